/* answers.h - inputs that the load generator sends, and judgement of the received outputs. */
#ifndef CONVLAB_SERVE_ANSWERS_H
#define CONVLAB_SERVE_ANSWERS_H

#include <pthread.h>

#include "common/operations/operation/operation.h"
#include "common/apps/serve/model.h"

enum { ANSWERS_INPUTS = 8, ANSWERS_VARIANTS = 16 };

typedef struct Answers {
    Model model;
    Precision precision;
    float *x; /* ANSWERS_INPUTS of them, contiguous */
    /* Distinct outputs received for each input, compared bit by bit: a kernel may sum in another
     * order in another batch. */
    float *y[ANSWERS_VARIANTS];
    int variants[ANSWERS_INPUTS];
    uint64_t strange; /* number of further distinct outputs */
    pthread_mutex_t mutex;
} Answers;

/* `text` is the server's description of its model.  -1 with error. */
int answers_open(const char *text, uint64_t seed, Answers *answers, Error *error);
void answers_close(Answers *answers);

const float *answers_input(const Answers *answers, int input);

/* Stores an output for that input if it differs from the earlier ones.  Thread-safe. */
void answers_note(Answers *answers, int input, const float *y);

/* Judges all stored outputs with the operation's oracle and bound.  -1 with error: the first wrong
 * one.  *judged: number of judged outputs. */
int answers_judge(const Answers *answers, int *judged, Error *error);

#endif
