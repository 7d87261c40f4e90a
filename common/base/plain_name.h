/* plain_name.h - a kernel's name as its author wrote it. */
#ifndef CONVLAB_BASE_PLAIN_NAME_H
#define CONVLAB_BASE_PLAIN_NAME_H

#include <stddef.h>

/* Of a mangled name (Itanium C++ ABI, as nvcc makes them) the last identifier, without namespaces,
 * template arguments and parameters: "_ZN4deep6kernelILi16EEvPf" is "kernel".  Anything else stays
 * as it is.  The name is the submission's: what a terminal might obey is written as '?'.  Cut where
 * `bytes` end. */
void plain_name(const char *mangled, char *text, size_t bytes);

#endif
