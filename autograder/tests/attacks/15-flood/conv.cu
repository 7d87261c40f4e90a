/* Prints and allocates without end. */
#include <convlab/conv.h>

#include <stdlib.h>
#include <unistd.h>

void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                  cudaStream_t stream)
{
    static char line[1 << 16];
    for (;;) {
        char *more = (char *)malloc(1 << 24);
        if (!more) abort();
        for (int i = 0; i < 1 << 24; i += 4096)
            more[i] = 1;
        if (write(1, line, sizeof line) < 0) continue;
    }
}
