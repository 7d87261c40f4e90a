/* expression.h - C expressions, parsed once and evaluated in the 32 lanes of a warp. */
#ifndef CONVLAB_DEBUGGER_EXPRESSION_H
#define CONVLAB_DEBUGGER_EXPRESSION_H

#include "common/debugger/value.h"

typedef struct Expression Expression;

/* Context in which an expression is evaluated. */
typedef struct Scene {
    Warp *warp;
    const KernelMap *map;
    Frame frame;
    uint32_t mask; /* lanes that are wanted */
    const struct ValueHistory *history;
    int may_assign;
    int assigned; /* an assignment was carried out */
} Scene;

/* $1, $2 ...: of the lane that was in focus. */
typedef struct ValueHistory {
    uint32_t count, room;
    struct {
        const Type *type;
        int64_t i;
        double f;
    } * value;
} ValueHistory;

/* NULL with error.  `end` (may be NULL) gets the first character that is not part of it. */
Expression *expression_parse(const char *text, const char **end, Error *error);
void expression_free(Expression *expression);
/* Always fills in *value; where a lane has none, value->why says the reason. */
void expression_evaluate(Expression *expression, Scene *scene, Value *value);
/* The lanes of scene->mask in which it is not zero; -1 with why: in no lane, because of a fault. */
int expression_true(Expression *expression, Scene *scene, uint32_t *lanes, char *why, size_t room);
int value_history_add(ValueHistory *history, const Type *type, int64_t i, double f);

#endif
