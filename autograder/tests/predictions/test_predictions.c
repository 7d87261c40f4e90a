#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/lab/predict.h"
#include "autograder/tests/predictions/derive.h"
#include "autograder/text/text.h"
#include "common/operations/conv/conv_problem.h"

#define LAB(number) &derive_##number,
static const LabDerivations *const DERIVED[] = {
#include "autograder/tests/predictions/labs.def"
};
#undef LAB
enum { LABS = sizeof DERIVED / sizeof *DERIVED };

/* Formulas and derivations go different ways to a number; they part in the last digits only. */
static const double ROUNDING = 1e-9;

static Catalog catalog;

static const LabDerivations *derivations_of(const char *lab)
{
    for (int i = 0; i < LABS; i++)
        if (!strcmp(DERIVED[i]->lab, lab)) return DERIVED[i];
    return NULL;
}

static Derive *derive_find(const LabDerivations *derived, const char *prediction)
{
    for (const Derivation *one = derived->derivation; one->prediction; one++)
        if (!strcmp(one->prediction, prediction)) return one->derive;
    return NULL;
}

static int is_asked(const LabIni *ini, const char *prediction)
{
    for (int i = 0; i < ini->predictions; i++)
        if (!strcmp(ini->prediction[i].name, prediction)) return 1;
    return 0;
}

static void answers_read(const Lab *lab, PredictFile *file)
{
    const char *name[LAB_PREDICTIONS + 1] = {0};
    char path[200];
    Error error = {""};
    for (int i = 0; i < lab->ini.predictions; i++)
        name[i] = lab->ini.prediction[i].name;
    text_set(path, sizeof path, "solutions/%s/predict.ini", lab->name);
    if (predict_read(NULL, path, path, name, file, &error)) fail_msg("%s", error.text);
}

static Given given_of(const Lab *lab, const LabPrediction *prediction)
{
    Given given = {.lab = lab};
    Error error = {""};
    if (machine_load("common/simulator/gpus", lab->ini.gpu, &given.machine, &error))
        fail_msg("%s", error.text);
    const LabCase *item = &lab->ini.item[prediction->case_index];
    given.problem = &item->problem;
    if (!strncmp(item->operation->name, "conv_", 5)) given.p = conv_unpack(given.problem);
    return given;
}

static int is_near(double value, double derived, double tolerance)
{
    return fabs(value - derived) <= (tolerance + ROUNDING) * fabs(derived);
}

/* Checks that lab.ini's formula, if it needs no launch, is the derived number itself, not only near
 * the answer. */
static int check_formula(const Lab *lab, const LabPrediction *prediction, const Given *given,
                         double derived)
{
    const LabCase *item = &lab->ini.item[prediction->case_index];
    MetricRun run = {item->operation, &item->problem, &given->machine, NULL};
    Error error = {""};
    double truth = NAN;
    if (prediction->needs_launch) return 0;
    if (formula_value(prediction->formula, &run, &truth, &error)) fail_msg("%s", error.text);
    if (is_near(truth, derived, 0)) return 0;
    print_error("labs/%s/lab.ini: '%s' is %.12g, but derived it is %.12g\n", lab->name,
                prediction->name, truth, derived);
    return 1;
}

/* Says what is wrong with a prediction; returns 1 then. */
static int check_prediction(const Lab *lab, const LabPrediction *prediction,
                            const PredictFile *file)
{
    const LabDerivations *derived_here = derivations_of(lab->name);
    Derive *derive = derive_find(derived_here, prediction->name);
    const double *answer = predict_find(file, prediction->name);
    if (!derive) {
        print_error("autograder/tests/predictions/%s.c derives no '%s'\n", lab->name,
                    prediction->name);
        return 1;
    }
    Given given = given_of(lab, prediction);
    double derived = derive(&given);
    if (!answer || !is_near(*answer, derived, prediction->tolerance)) {
        print_error("solutions/%s/predict.ini: '%s' is %.12g, but derived it is %.12g\n", lab->name,
                    prediction->name, answer ? *answer : NAN, derived);
        return 1;
    }
    return check_formula(lab, prediction, &given, derived);
}

/* A cmocka test a lab, which it finds in *state. */
static void each_prediction_is_derived(void **state)
{
    const Lab *lab = *state;
    const LabDerivations *derived = derivations_of(lab->name);
    PredictFile file;
    int wrong = 0;
    if (!derived) fail_msg("autograder/tests/predictions/labs.def has no line for %s", lab->name);
    answers_read(lab, &file);
    for (int i = 0; i < lab->ini.predictions; i++)
        wrong += check_prediction(lab, &lab->ini.prediction[i], &file);
    for (const Derivation *one = derived->derivation; one->prediction; one++) {
        if (is_asked(&lab->ini, one->prediction)) continue;
        print_error(
            "autograder/tests/predictions/%s.c derives '%s', for which lab.ini does not ask\n",
            lab->name, one->prediction);
        wrong++;
    }
    if (wrong) fail_msg("%s: %d wrong or missing", lab->name, wrong);
}

static void each_derivation_has_its_lab(void **state)
{
    (void)state;
    for (int i = 0; i < LABS; i++) {
        int found = 0;
        for (int j = 0; j < catalog.labs; j++)
            found |= !strcmp(DERIVED[i]->lab, catalog.lab[j].name);
        if (!found) fail_msg("there is no lab %s", DERIVED[i]->lab);
    }
}

int main(void)
{
    Error error = {""};
    if (catalog_open(".", &catalog, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    struct CMUnitTest *test = calloc((size_t)catalog.labs + 1, sizeof *test);
    if (!test) return 1;
    for (int i = 0; i < catalog.labs; i++)
        test[i] = (struct CMUnitTest){.name = catalog.lab[i].name,
                                      .test_func = each_prediction_is_derived,
                                      .initial_state = &catalog.lab[i]};
    test[catalog.labs] = (struct CMUnitTest)cmocka_unit_test(each_derivation_has_its_lab);
    int failed = _cmocka_run_group_tests("autograder/predictions", test, (size_t)catalog.labs + 1,
                                         NULL, NULL);
    free(test);
    catalog_close(&catalog);
    return failed;
}
