/* host.c - errors of host code, one per case.  The script makes a lab of it whose case N has N
 * filters of one tap over one pixel, and expects the words after SAYS in the grade's message.  Each
 * exceeded limit lowers the next one, so cases that take seconds come last. */
#include <convlab/conv.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void file_write(size_t bytes)
{
    FILE *file = fopen("/tmp/x", "w");
    while (file && bytes--)
        fputc('x', file);
    if (file) fclose(file);
}

/* Writes to every descriptor of this process except its input and output. */
static void descriptors_write(void)
{
    char nonsense[4096];
    memset(nonsense, 0xee, sizeof nonsense);
    for (int i = 3; i < 256; i++) {
        if (fcntl(i, F_SETFL, O_NONBLOCK)) continue;
        ssize_t written = write(i, nonsense, sizeof nonsense);
        (void)written;
    }
}

static void descriptors_close(void)
{
    for (int i = 0; i < 256; i++)
        close(i);
}

void conv_forward_host(const ConvProblem *p, const float *x, const float *w, float *y)
{
    switch (p->K) {
    case 1: // SAYS killed by SIGSEGV
        *(volatile int *)8 = 1;
        break;
    case 2: // SAYS killed by SIGFPE
        raise(SIGFPE);
        break;
    case 3: // SAYS killed by SIGABRT
        abort();
    case 4: // SAYS the program ended by exit(3)
        exit(3);
    case 5: // SAYS for using too much time or memory
        raise(SIGKILL);
        break;
    case 6: // SAYS created a file; a submission may create none
        file_write(2 << 20);
        break;
    case 7: // SAYS closed its connection to the grader
        descriptors_close();
        break;
    case 8: // SAYS sent an invalid message to the grader
        descriptors_write();
        break;
    case 9: // SAYS wrote outside of y
        y[-1] = 1.0f;
        break;
    case 10: // SAYS a loop in host code does not end
        for (volatile int endless = 1; endless;)
            ;
    case 11: // SAYS without computing anything and was stopped
        break;
    }
    for (int waits = p->K == 7 || p->K == 8 || p->K == 11; waits;)
        pause();
    for (int k = 0; k < p->K; k++)
        y[k] = w[k] * x[0];
}
