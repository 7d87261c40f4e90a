/* answers.h - the inputs that the load generator sends, and whether what came back is right. */
#ifndef CONVLAB_SERVE_ANSWERS_H
#define CONVLAB_SERVE_ANSWERS_H

#include <pthread.h>

#include "common/operations/operation/operation.h"
#include "common/apps/serve/model.h"

enum { ANSWERS_INPUTS = 8, ANSWERS_VARIANTS = 16 };

typedef struct Answers {
    Model model;
    Precision precision;
    float *x; /* ANSWERS_INPUTS of them, side by side */
    /* What came back for each, bit for bit: a kernel may sum in another order in another batch. */
    float *y[ANSWERS_VARIANTS];
    int variants[ANSWERS_INPUTS];
    uint64_t strange; /* answers beyond those */
    pthread_mutex_t mutex;
} Answers;

/* `text` is what the server says of its model.  -1 with error. */
int answers_open(const char *text, uint64_t seed, Answers *answers, Error *error);
void answers_close(Answers *answers);

const float *answers_input(const Answers *answers, int input);

/* Keeps an answer to that input, if it is another one than before.  From any thread. */
void answers_note(Answers *answers, int input, const float *y);

/* Are all that were kept right, by the operation's own oracle and bound?  -1 with error: what is
 * wrong with the first that is not.  *judged: how many were. */
int answers_judge(const Answers *answers, int *judged, Error *error);

#endif
