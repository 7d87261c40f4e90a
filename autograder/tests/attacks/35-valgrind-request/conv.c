/* The plain loop, which a request to valgrind has run uncounted. */
#include <convlab/conv.h>

/* One sum after another, as the baseline has it. */
static void plain(const ConvProblem *p, const float *x, const float *w, float *y)
{
    for (int n = 0; n < p->N; n++)
        for (int k = 0; k < p->K; k++)
            for (int op = 0; op < p->P; op++)
                for (int oq = 0; oq < p->Q; oq++) {
                    float sum = 0.0f;
                    for (int c = 0; c < p->C; c++)
                        for (int r = 0; r < p->R; r++)
                            for (int s = 0; s < p->S; s++) {
                                int ih = op * p->stride_h + r - p->pad_top;
                                int iw = oq * p->stride_w + s - p->pad_left;
                                if (ih >= 0 && ih < p->H && iw >= 0 && iw < p->W)
                                    sum += x[((n * p->C + c) * p->H + ih) * p->W + iw] *
                                           w[((k * p->C + c) * p->R + r) * p->S + s];
                            }
                    y[((n * p->K + k) * p->P + op) * p->Q + oq] = sum;
                }
}

static struct {
    const ConvProblem *p;
    const float *x, *w;
    float *y;
} job;
static volatile long done;

/* valgrind calls it on the real processor, with a thread's number. */
static unsigned long uncounted(unsigned long thread)
{
    plain(job.p, job.x, job.w, job.y);
    done = 1;
    return thread;
}

/* VALGRIND_NON_SIMD_CALL0 of valgrind.h. */
static void request(void)
{
    volatile unsigned long argument[6] = {0x1101, (unsigned long)uncounted, 0, 0, 0, 0};
    unsigned long result = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(result)
                     : "a"(&argument[0])
                     : "cc", "memory");
}

void conv_forward_host(const ConvProblem *p, const float *x, const float *w, float *y)
{
    job.p = p, job.x = x, job.w = w, job.y = y, done = 0;
    request();
    if (!done) plain(p, x, w, y);
}
