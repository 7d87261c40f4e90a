/* lab_shape.h - a problem of a lab as text: what records show, and what SHAPE= takes.
 *
 * It is the operation's own text ("N=16 C=1 H=32 ..."); in a lab of several operations the name of
 * one of them stands before it ("pool_forward N=16 ...").  A layer of datasets/networks may stand
 * for the text ("vgg-16/conv3_1", "vgg-16/conv3_1 N=8"). */
#ifndef CONVLAB_AUTOGRADER_LAB_LAB_SHAPE_H
#define CONVLAB_AUTOGRADER_LAB_LAB_SHAPE_H

#include "autograder/lab/lab_ini.h"

enum { LAB_SHAPE_TEXT = 320 };

void lab_shape_print(const LabIni *lab, const Operation *operation, const Problem *problem,
                     char *text, size_t bytes);

/* Splits off the name: returns what is left of `text`, and the operation that it begins with, or
 * the lab's own where it begins with none.  NULL with error: the lab has none of that name. */
const char *lab_shape_operation(const LabIni *lab, const char *text, const Operation **operation,
                                Error *error);

/* Returns the operation; NULL with error. */
const Operation *lab_shape_parse(const LabIni *lab, const char *text, Problem *problem,
                                 Error *error);

/* `text` as `shape`, with a layer's shape in place of its name; of what both give, `text` counts.
 * `root` holds datasets/networks.  -1 with error: there is no such network, or layer. */
int lab_shape_layer(const char *root, const char *text, char shape[LAB_SHAPE_TEXT], Error *error);

#endif
