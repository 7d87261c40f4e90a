/* sanitized.h - test for AddressSanitizer and ThreadSanitizer.  gcc defines macros, clang 14
 * features. */
#ifndef CONVLAB_BASE_SANITIZED_H
#define CONVLAB_BASE_SANITIZED_H

#ifdef __has_feature
#define SANITIZED_BY_CLANG (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED_BY_CLANG 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || SANITIZED_BY_CLANG
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#endif
