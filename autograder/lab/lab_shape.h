/* lab_shape.h - text form of a lab's problem, as in records and SHAPE=.
 *
 * It is the operation's own text ("N=16 C=1 H=32 ...").  In a lab of several operations the
 * operation's name comes first ("pool_forward N=16 ...").  The name of a layer of datasets/networks
 * may replace the text ("vgg-16/conv3_1", "vgg-16/conv3_1 N=8"). */
#ifndef CONVLAB_AUTOGRADER_LAB_LAB_SHAPE_H
#define CONVLAB_AUTOGRADER_LAB_LAB_SHAPE_H

#include "autograder/lab/lab_ini.h"

enum { LAB_SHAPE_TEXT = 320 };

void lab_shape_print(const LabIni *lab, const Operation *operation, const Problem *problem,
                     char *text, size_t bytes);

/* Splits off the operation's name: returns the rest of `text`, and the named operation, or the
 * lab's own if there is no name.  NULL with error: the lab has no such operation. */
const char *lab_shape_operation(const LabIni *lab, const char *text, const Operation **operation,
                                Error *error);

/* Returns the operation; NULL with error. */
const Operation *lab_shape_parse(const LabIni *lab, const char *text, Problem *problem,
                                 Error *error);

/* `text` as `shape`, with a layer's name replaced by its shape; keys in `text` override the
 * layer's. `root` contains datasets/networks.  -1 with error: there is no such network or layer. */
int lab_shape_layer(const char *root, const char *text, char shape[LAB_SHAPE_TEXT], Error *error);

#endif
