/* call_site.h - the source line of the host program that called a function of this program's
 * libraries. */
#ifndef CONVLAB_BASE_CALL_SITE_H
#define CONVLAB_BASE_CALL_SITE_H

#include <stddef.h>

/* "file.cu:12": the innermost active call in code of the host program.  Code of the toolkit's
 * headers, of the C files of this project, and of the function `stub` (a kernel's name, whose host
 * stub nvcc writes) is skipped; NULL: there is no stub.  "" if the program has no debug
 * information. Not for signal handlers.  Needs libdw. */
void call_site_find(const char *stub, char *text, size_t bytes);

#endif
