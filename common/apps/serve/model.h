/* model.h - what is served: one operation of a lab, with its weights. */
#ifndef CONVLAB_SERVE_MODEL_H
#define CONVLAB_SERVE_MODEL_H

#include "common/operations/operation/operation.h"

enum { MODEL_TEXT = 400 };

typedef struct Model {
    const Operation *operation;
    char shape[MODEL_TEXT];           /* of one image: "N=1 activation=tanh ..." */
    int tensors, x, y;                /* how many, and which is a request's, which its answer's */
    size_t count[OPERATION_TENSORS];  /* floats of each, of one image */
    float *weight[OPERATION_TENSORS]; /* NULL for x and y */
    uint64_t seed;
    const char *precision; /* that the lab asks for: "fp32" */
    const char *weights;   /* the file that they are from; "" none: made from the seed */
} Model;

/* `shape` is a problem of the operation with any N.  Weights are what `make run` has with that
 * seed, or with that file.  -1 with error: x and y are not of a row an image, or something else is
 * not the same for all. */
int model_open(const char *operation, const char *shape, uint64_t seed, const char *weights,
               Model *model, Error *error);
void model_close(Model *model);

/* The problem of a batch of `images`. */
int model_batch(const Model *model, int images, Problem *problem, Error *error);

#endif
