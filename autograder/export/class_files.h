/* class_files.h - what `make class` leaves beside its gradebook for a person to read. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_CLASS_FILES_H
#define CONVLAB_AUTOGRADER_EXPORT_CLASS_FILES_H

#include "common/base/error.h"

/* Writes <folder>/class.html of <folder>/gradebook.sqlite, compared with <folder>/last.sqlite where
 * that is; then last.sqlite becomes a copy of the gradebook.  So the page compares with the last
 * run that came to its end.  -1 with error: what was there stays. */
int class_files_write(const char *folder, const char *root, Error *error);

#endif
