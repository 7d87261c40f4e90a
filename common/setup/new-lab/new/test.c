/* test_@OPERATION@.c - lab @NUMBER@'s operation: text form, a second implementation in float,
 * messages about mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/catalog/operations.h"
#include "common/operations/operation/diagnose.h"
#include "convlab/@OPERATION@.h"

static const Operation *operation;

static void text_and_back(void **state)
{
    char text[100];
    Problem problem;
    Error error;
    (void)state;
    assert_int_equal(operation->parse("S=5 N=3 W=40", &problem, &error), 0);
    operation->print(&problem, text, sizeof text);
    assert_string_equal(text, "N=3 W=40 S=5");
    assert_int_equal(operation->parse("N=3 W=40", &problem, &error), -1);
    assert_non_null(strstr(error.text, "missing: S"));
    assert_int_equal(operation->parse("N=3 W=4 S=5", &problem, &error), -1);
}

/* A student's kernel in plain C: the S taps from `first` on, fewer by `missing`, of row n or 0. */
typedef struct Code {
    int first, missing, divides, is_first_row;
} Code;

static void compute(const @STRUCT@ *p, const Code *code, const float *x, float *y)
{
    for (int n = 0; n < p->N; n++)
        for (int q = 0; q < p->Q; q++) {
            float sum = 0;
            for (int s = code->first; s < p->S - code->missing; s++)
                sum += x[(code->is_first_row ? 0 : n) * p->W + q + s];
            y[n * p->Q + q] = code->divides ? sum / (float)p->S : sum;
        }
}

static void judge(const Problem *problem, const Code *code, Verdict *verdict, Finding *finding)
{
    @STRUCT@ p;
    memcpy(&p, problem->data, sizeof p);
    float *tensor[OPERATION_TENSORS] = {calloc((size_t)p.N * p.W, sizeof(float)),
                                        calloc((size_t)p.N * p.Q, sizeof(float))};
    Observed observed = {.output = tensor[1]};
    Judgement judgement;
    Random random;
    Error error = {""};
    random_seed(&random, 7);
    operation->generate(problem, &random, tensor);
    compute(&p, code, tensor[0], tensor[1]);
    if (verify_output(operation, problem, PRECISION_FP32, (const float *const *)tensor, &observed,
                      &judgement, &error))
        fail_msg("%s", error.text);
    *verdict = judgement.verdict;
    diagnose(&judgement, NULL, NULL, finding);
    judgement_free(&judgement);
    free(tensor[0]);
    free(tensor[1]);
}

static void right_code_is_within_the_bound(void **state)
{
    Random random;
    Verdict verdict;
    Finding finding;
    (void)state;
    random_seed(&random, 5);
    for (int index = 0; index < 12; index++) {
        Problem problem = {0};
        operation->draw(&random, index, 1e5, &problem);
        judge(&problem, &(Code){0}, &verdict, &finding);
        assert_true(verdict.correct);
    }
}

static void mistakes_have_names(void **state)
{
    static const struct {
        Code code;
        const char *words;
    } MADE[] = {{{.missing = 1}, "last value"},
                {{.first = 1}, "first value"},
                {{.divides = 1}, "divided by S"},
                {{.is_first_row = 1}, "first row"}};
    Problem problem;
    Verdict verdict;
    Finding finding;
    Error error;
    (void)state;
    assert_int_equal(operation->parse("N=3 W=40 S=5", &problem, &error), 0);
    for (size_t i = 0; i < sizeof MADE / sizeof *MADE; i++) {
        judge(&problem, &MADE[i].code, &verdict, &finding);
        if (verdict.correct || !strstr(finding.text, MADE[i].words))
            fail_msg("%s: %s", MADE[i].words, finding.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_back),
        cmocka_unit_test(right_code_is_within_the_bound),
        cmocka_unit_test(mistakes_have_names),
    };
    operation = operation_find("@OPERATION@");
    return operation ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
