#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/record/cause.h"

static RecordCase found(CaseVerdict verdict, const char *fault, const char *text)
{
    RecordCase item = {.verdict = verdict};
    snprintf(item.fault, sizeof item.fault, "%s", fault);
    snprintf(item.text, sizeof item.text, "%s", text);
    return item;
}

static void messages_that_differ_in_numbers_are_one_cause(void **state)
{
    (void)state;
    RecordCase one = found(CASE_ERROR, "shared-memory",
                           "offset 3872 is 32 bytes past the end\nin kernel k, address 0xf20, at "
                           "conv.cu:61"),
               two = found(CASE_ERROR, "shared-memory",
                           "offset 12 is 0 bytes past the end\nin kernel k, address 0x1, at "
                           "conv.cu:61"),
               elsewhere = found(CASE_ERROR, "shared-memory", "offset 12\nat conv.cu:79");
    assert_true(cause_same(&one, &two));
    assert_false(cause_same(&one, &elsewhere));
    RecordCase race = found(CASE_WRONG, "race", "Read at conv.cu:78 and Write at conv.cu:61"),
               other = found(CASE_WRONG, "race", "Read at conv.cu:78 and Write at conv.cu:68"),
               less = found(CASE_WRONG, "race", "Read at conv.cu:78");
    assert_false(cause_same(&race, &other));
    assert_false(cause_same(&race, &less));
    RecordCase killed = found(CASE_LIMIT, "", "used 20 s of CPU time"),
               later = found(CASE_LIMIT, "", "used 2 s of CPU time"),
               waited = found(CASE_LIMIT, "", "waited 2 s");
    assert_true(cause_same(&killed, &later));
    assert_false(cause_same(&killed, &waited));
    RecordCase halo = found(CASE_WRONG, "halo", "shifted by 1"),
               stride = found(CASE_WRONG, "stride", "shifted by 1");
    assert_false(cause_same(&halo, &stride));
}

static void causes_precede_consequences(void **state)
{
    (void)state;
    Record *record = calloc(1, sizeof *record);
    assert_null(cause_first(record));
    const RecordCase listed[] = {
        found(CASE_CORRECT, "", ""),
        found(CASE_NOT_RUN, "", "large"),
        found(CASE_BROKEN, "", "the grader's own"),
        found(CASE_WRONG, "everywhere", "wrong"),
        found(CASE_LIMIT, "", "too long"),
        found(CASE_WRONG, "halo", "shifted"),
        found(CASE_WRONG, "nan", "unset"),
        found(CASE_CRASHED, "", "signal 11"),
        found(CASE_ERROR, "barrier", "Barrier error"),
        found(CASE_WRONG, "race", "Race"),
    };
    /* From the vaguest on, each new case is closer to the cause; cases that were not run are
     * ignored. */
    static const int FIRST[] = {-1, -1, -1, 3, 4, 4, 6, 7, 8, 8};
    for (int i = 0; i < 10; i++) {
        record->item[record->cases++] = listed[i];
        const RecordCase *first = cause_first(record);
        assert_int_equal(first ? (int)(first - record->item) : -1, FIRST[i]);
    }
    free(record);
}

/* A pattern in one small shape does not precede a larger public case without a pattern, and the
 * place of a hidden shape's errors does not precede any. */
static void a_cause_must_fit_all_shapes(void **state)
{
    (void)state;
    Record *record = calloc(1, sizeof *record);
    RecordCase *vague = &record->item[0], *small = &record->item[1];
    *vague = found(CASE_WRONG, "everywhere", "wrong");
    *small = found(CASE_WRONG, "layout", "another order");
    record->cases = 2;
    vague->total = small->total = 8;
    assert_ptr_equal(cause_first(record), small);
    vague->total = 9;
    assert_ptr_equal(cause_first(record), vague);
    record->item[2] = *small; /* two cases show it */
    record->cases = 3;
    assert_ptr_equal(cause_first(record), small);
    record->cases = 2;
    vague->hidden = 1;
    assert_ptr_equal(cause_first(record), small);
    *vague = found(CASE_WRONG, "everywhere", "wrong");
    *small = found(CASE_WRONG, "one-filter", "k >= 1");
    assert_ptr_equal(cause_first(record), small);
    small->hidden = 1;
    assert_ptr_equal(cause_first(record), vague);
    *small = found(CASE_WRONG, "stride", "right with strides of 1");
    strcpy(vague->shape, "R=3 S=3 pad=1 stride=1,2");
    vague->total = 0;
    assert_ptr_equal(cause_first(record), small);
    strcpy(vague->shape, "R=3 S=3 pad=1 stride=1");
    assert_ptr_equal(cause_first(record), vague);
    free(record);
}

/* A wrong index is a pattern in one shape, and an out-of-bounds access in another. */
static void a_wrong_index_precedes_out_of_bounds_reads(void **state)
{
    (void)state;
    Record *record = calloc(1, sizeof *record);
    RecordCase *outside = &record->item[0], *pattern = &record->item[1];
    *outside = found(CASE_ERROR, "read-outside", "right past the end of x, at conv.cu:29");
    *pattern = found(CASE_WRONG, "axes", "rows of H pixels");
    record->cases = 2;
    assert_ptr_equal(cause_first(record), pattern);
    pattern->hidden = 1; /* the student does not know its shape */
    assert_ptr_equal(cause_first(record), outside);
    *pattern = found(CASE_WRONG, "tile-edge", "only where"); /* names no index */
    assert_ptr_equal(cause_first(record), outside);
    *outside = found(CASE_WRONG, "nan", "unset"), *pattern = found(CASE_WRONG, "axes", "rows");
    assert_ptr_equal(cause_first(record), outside);
    strcpy(record->engine, "cpu"); /* reads are not checked there */
    assert_ptr_equal(cause_first(record), pattern);
    free(record);
}

static void the_hint_of_a_fault_belongs_to_every_case(void **state)
{
    (void)state;
    Record *record = calloc(1, sizeof *record);
    record->cases = 2;
    record->item[0] = found(CASE_WRONG, "race", "at conv.cu:1");
    record->item[1] = found(CASE_WRONG, "race", "at conv.cu:2");
    strcpy(record->item[0].hint, "A barrier.");
    assert_string_equal(cause_hint(record, &record->item[1]), "A barrier.");
    free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_that_differ_in_numbers_are_one_cause),
        cmocka_unit_test(causes_precede_consequences),
        cmocka_unit_test(a_cause_must_fit_all_shapes),
        cmocka_unit_test(a_wrong_index_precedes_out_of_bounds_reads),
        cmocka_unit_test(the_hint_of_a_fault_belongs_to_every_case),
    };
    return cmocka_run_group_tests_name("autograder/cause", tests, NULL, NULL);
}
