/* class_files.h - the files that `make class` writes next to its gradebook. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_CLASS_FILES_H
#define CONVLAB_AUTOGRADER_EXPORT_CLASS_FILES_H

#include "common/base/error.h"

/* Writes <folder>/class.html from <folder>/gradebook.sqlite, compared with <folder>/last.sqlite if
 * that exists; then last.sqlite becomes a copy of the gradebook.  So the page compares with the
 * last run that was completed.  -1 with error: the old files remain. */
int class_files_write(const char *folder, const char *root, Error *error);

#endif
