/* model.h - served model: one operation of a lab, with its weights. */
#ifndef CONVLAB_SERVE_MODEL_H
#define CONVLAB_SERVE_MODEL_H

#include "common/operations/operation/operation.h"

enum { MODEL_TEXT = 400 };

typedef struct Model {
    const Operation *operation;
    char shape[MODEL_TEXT];           /* problem of one image: "N=1 activation=tanh ..." */
    int tensors, x, y;                /* number of tensors; index of the request's and of the
                                       * answer's */
    size_t count[OPERATION_TENSORS];  /* number of floats of each, for one image */
    float *weight[OPERATION_TENSORS]; /* NULL for x and y */
    uint64_t seed;
    const char *precision; /* the lab's precision: "fp32" */
    const char *weights;   /* path of the file; "": drawn with the seed */
} Model;

/* `shape` is a problem of the operation with any N.  Weights are those of `make run` with that
 * seed, or with that file.  -1 with error: x and y do not have one row per image, or another tensor
 * depends on N. */
int model_open(const char *operation, const char *shape, uint64_t seed, const char *weights,
               Model *model, Error *error);
void model_close(Model *model);

/* The problem of a batch of `images`. */
int model_batch(const Model *model, int images, Problem *problem, Error *error);

#endif
