/* demangle.h - demangled name of a kernel. */
#ifndef CONVLAB_BASE_DEMANGLE_H
#define CONVLAB_BASE_DEMANGLE_H

#include <stddef.h>

/* The last identifier of a mangled name (Itanium C++ ABI, as from nvcc), without namespaces,
 * template arguments and parameters: "_ZN4deep6kernelILi16EEvPf" gives "kernel".  Any other text is
 * unchanged. The name is untrusted, so terminal control characters are replaced by '?'.  Truncated
 * to `bytes`. */
void demangle(const char *mangled, char *text, size_t bytes);

#endif
