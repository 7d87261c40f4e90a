/* ptx_link.h - device linking: the PTX of several source files becomes one module, as nvcc's
 * -rdc=true makes one of their machine code.
 *
 * Declarations of other files' functions and variables are bound to their definitions.  The first
 * of several weak definitions stays.  Names without linkage that two files use, such as nvcc's
 * strings, get a suffix.  Numbers of source files are made unique. */
#ifndef CONVLAB_PTX_LINK_H
#define CONVLAB_PTX_LINK_H

#include <stddef.h>

#include "common/base/error.h"

/* The linked text, for free(), and its size; NULL with error.  Each text is NUL-terminated.  An
 * undefined name keeps its declaration: the simulated GPU then names it. */
char *ptx_link(const char *const *text, size_t texts, size_t *bytes, Error *error);

#endif
