/* array_name.h - name and shape of an array in a GPU's memory, so that an address in or near it can
 * be described as an element. */
#ifndef CONVLAB_BASE_ARRAY_NAME_H
#define CONVLAB_BASE_ARRAY_NAME_H

#include <stddef.h>
#include <stdint.h>

enum { ARRAY_RANK = 5, ARRAY_ELEMENT_BYTES = 4 }; /* all elements are float */

typedef struct ArrayName {
    char name[16]; /* "x" */
    uint32_t rank;
    uint64_t dim[ARRAY_RANK]; /* outermost first, all above 0 */
    char axis[ARRAY_RANK];    /* names of the axes: 'n', 'c', 'h', 'w' */
} ArrayName;

/* Describes byte `offset` from the array's start.  
 *
 *     x at (n,c,h,w) = (0,2,3,1)
 *     12 floats past the end of w[6][4][5][5], at (k,c,r,s) = (6,0,2,2)
 *     3 floats before the start of x[2][3][16][16] */
void array_place(const ArrayName *array, int64_t offset, char *text, size_t bytes);

#endif
