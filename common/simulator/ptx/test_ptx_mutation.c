/* test_ptx_mutation.c - some thousand damaged texts, the same on every run: refused or sound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/ptx/fuzz_mutate.h"
#include "common/simulator/ptx/fuzz_ptx.c"
#include "common/simulator/ptx/test_ptx_text.h"

enum { MUTATIONS = 4000 };

static void text_is_accepted(void **state)
{
    (void)state;
    Error error = {""};
    PtxModule *module = ptx_parse(TEST_PTX_TEXT, sizeof TEST_PTX_TEXT - 1, &error);
    if (!module) fail_msg("%s", error.text);
    assert_int_equal(module->functions, 3);
    ptx_free(module);
}

static void damaged_texts(void **state)
{
    (void)state;
    static unsigned char text[2 * sizeof TEST_PTX_TEXT];
    uint64_t random = 1;
    for (int i = 0; i < MUTATIONS; i++) {
        memcpy(text, TEST_PTX_TEXT, sizeof TEST_PTX_TEXT - 1);
        size_t size = mutate(text, sizeof TEST_PTX_TEXT - 1, sizeof text, &random);
        /* A sanitizer detects accesses after the end. */
        unsigned char *exact = malloc(size ? size : 1);
        assert_non_null(exact);
        memcpy(exact, text, size);
        LLVMFuzzerTestOneInput(exact, size);
        free(exact);
    }
}

/* Every prefix: a truncated module never reads on. */
static void every_prefix(void **state)
{
    (void)state;
    for (size_t size = 0; size < sizeof TEST_PTX_TEXT - 1; size += 7) {
        unsigned char *exact = malloc(size ? size : 1);
        assert_non_null(exact);
        memcpy(exact, TEST_PTX_TEXT, size);
        LLVMFuzzerTestOneInput(exact, size);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_accepted),
        cmocka_unit_test(damaged_texts),
        cmocka_unit_test(every_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
