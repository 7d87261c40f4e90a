#include "autograder/lab/formula.h"

#include <math.h>
#include <muParserDLL.h>
#include <stdio.h>
#include <string.h>

/* muParser's precedence of its own operators; % has that of * and /. */
enum { PRECEDENCE_OF_PRODUCTS = 6 };

/* State of reading one formula.  muParser asks for the address of each name once, while it
 * parses. */
typedef struct Reading {
    const MetricRun *run; /* a check has no machine and no cost; their numbers are then 1 */
    double value[64];
    int values, needs_launch, needs_machine;
    int wrong;
    Error error; /* the first error */
} Reading;

static int problem_number(const MetricRun *run, const char *name, double *value)
{
    ProblemNumber number[OPERATION_NUMBERS];
    int count = run->operation->numbers(run->problem, number);
    for (int i = 0; i < count; i++) {
        if (strcmp(number[i].name, name)) continue;
        *value = number[i].value;
        return 0;
    }
    return -1;
}

static int unknown_name(const Reading *reading, const char *name, Error *error)
{
    ProblemNumber number[OPERATION_NUMBERS];
    char known[400] = "";
    int count = reading->run->operation->numbers(reading->run->problem, number);
    for (int i = 0, used = 0; i < count && used < (int)sizeof known; i++)
        used += snprintf(known + used, sizeof known - (size_t)used, "%s%s", i ? ", " : "",
                         number[i].name);
    return error_set(
        error,
        "there is no number '%.40s'; take one of the problem (%s), of the machine "
        "(sms, registers_per_sm, ...) or a metric; docs/instructor/lab-ini.md lists them",
        name, known);
}

static int look_up(Reading *reading, const char *name, double *value, Error *error)
{
    const MetricRun *run = reading->run;
    if (!problem_number(run, name, value)) return 0;
    int metric = metric_find(name);
    if (metric >= 0 && !metric_needs_launch(metric)) return metric_value(metric, run, value, error);
    if (metric >= 0) {
        reading->needs_launch = 1;
        return run->cost ? metric_value(metric, run, value, error) : 0;
    }
    SimtMachine any = {0};
    if (machine_number(run->machine ? run->machine : &any, name, value))
        return unknown_name(reading, name, error);
    reading->needs_machine = 1;
    if (!run->machine) *value = 1;
    return 0;
}

/* muParser's callback for an unknown name, which must return an address. */
static muFloat_t *name_place(const muChar_t *name, void *context)
{
    Reading *reading = context;
    int full = reading->values == sizeof reading->value / sizeof *reading->value;
    double *place = &reading->value[full ? 0 : reading->values++];
    *place = 1;
    if (reading->wrong) return place;
    if (full)
        reading->wrong = error_set(&reading->error, "more than %d names", reading->values);
    else
        reading->wrong = look_up(reading, name, place, &reading->error);
    return place;
}

static int parser_error(muParserHandle_t parser, const char *text, Error *error)
{
    int at = mupGetErrorPos(parser), length = (int)strlen(text);
    if (at < 0) at = 0;
    if (at >= length) return error_set(error, "'%s' breaks off", text);
    return error_set(error,
                     "'%s' is not a formula from '%s' on; it may contain + - * / %% ^ ( ), ceil, "
                     "floor, round, min, max and sqrt",
                     text, text + at);
}

static int formula_read(const char *text, Reading *reading, double *value, Error *error)
{
    int results = 0;
    muParserHandle_t parser = mupCreate(muBASETYPE_FLOAT);
    mupSetVarFactory(parser, name_place, reading);
    mupDefineFun1(parser, "ceil", ceil, 1);
    mupDefineFun1(parser, "floor", floor, 1);
    mupDefineFun1(parser, "round", round, 1);
    mupDefineOprt(parser, "%", fmod, PRECEDENCE_OF_PRODUCTS, muOPRT_ASCT_LEFT, 1);
    mupSetExpr(parser, text);
    const double *result = mupEvalMulti(parser, &results);
    int status = 0;
    if (mupError(parser)) {
        status = parser_error(parser, text, error);
    } else if (reading->wrong) {
        status = error_set(error, "%s", reading->error.text);
    } else if (results != 1) {
        status = error_set(error, "'%s' is %d numbers; a formula is one", text, results);
    } else {
        *value = *result;
    }
    mupRelease(parser);
    return status;
}

static int finite_or_error(const char *text, double value, Error *error)
{
    if (isfinite(value)) return 0;
    return error_set(error, "'%s' has no finite value; possibly it divides by zero", text);
}

int formula_check(const char *text, const Operation *operation, const Problem *problem,
                  int *needs_launch, Error *error)
{
    MetricRun run = {.operation = operation, .problem = problem};
    Reading reading = {.run = &run};
    double value = 0;
    if (formula_read(text, &reading, &value, error)) return -1;
    *needs_launch = reading.needs_launch;
    if (reading.needs_launch || reading.needs_machine) return 0;
    return finite_or_error(text, value, error);
}

int formula_value(const char *text, const MetricRun *run, double *value, Error *error)
{
    Reading reading = {.run = run};
    if (formula_read(text, &reading, value, error)) return -1;
    return finite_or_error(text, *value, error);
}
