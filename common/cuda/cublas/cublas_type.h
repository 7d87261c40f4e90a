/* cublas_type.h - names and types of one element type, for the sources that are included once per
 * type.
 *
 * TYPE_S, TYPE_D, TYPE_C or TYPE_Z is defined before.  X is the type's letter in cuBLAS, and L that
 * in CBLAS.  XR and LR are the letters of functions with a real result.  BY(s) is a scalar argument
 * of CBLAS, SIZE(x) the value that amax compares. */
#undef X
#undef L
#undef XR
#undef LR
#undef TYPE
#undef REAL
#undef BY
#undef SIZE
#ifdef TYPE_S
#define X    S
#define L    s
#define XR   S
#define LR   s
#define TYPE float
#define REAL float
#elif defined TYPE_D
#define X    D
#define L    d
#define XR   D
#define LR   d
#define TYPE double
#define REAL double
#elif defined TYPE_C
#define X    C
#define L    c
#define XR   Sc
#define LR   sc
#define TYPE cuComplex
#define REAL float
#else
#define X    Z
#define L    z
#define XR   Dz
#define LR   dz
#define TYPE cuDoubleComplex
#define REAL double
#endif
#if defined TYPE_S || defined TYPE_D
#define BY(value)   (value)
#define SIZE(value) fabs(value)
#else
#define BY(value)   (&(value))
#define SIZE(value) (fabs((value).x) + fabs((value).y))
#endif
#undef TYPE_S
#undef TYPE_D
#undef TYPE_C
#undef TYPE_Z

#ifndef PASTE
#define PASTE_(a, b, c)    a##b##c
#define PASTE(a, b, c)     PASTE_(a, b, c)
#define TEXT_(name)        #name
#define TEXT(name)         TEXT_(name)
#define NAME(letter, rest) PASTE(cublas, letter, rest)
#define API(letter, rest)  "cublas" TEXT(letter) rest
#define CALL_(name)        BLAS(name)
#define CBLAS(name)        CALL_(PASTE(L, name, ))
#define CBLASR(name)       CALL_(PASTE(LR, name, ))
#endif
