#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "autograder/lab/slow_hint.h"
#include "autograder/text/text.h"

static const char SKELETON[] = "// TODO(1): Load.\n"
                               "// END TODO(1)\n"
                               "// TODO(2): Fuse.\n"
                               "// END TODO(2)\n";
static const char FIRST_WRITTEN[] = "// TODO(1): Load.\n"
                                    "load();\n"
                                    "// END TODO(1)\n"
                                    "// TODO(2): Fuse.\n"
                                    "// END TODO(2)\n";

static const char LOAD[] = "TODO(1): load four.", FUSE[] = "TODO(2): fuse.", PAD[] = "Pad.";

static const LabIni *lab(void)
{
    static LabIni ini = {.hints = 3};
    text_set(ini.hint[0].text, sizeof ini.hint[0].text, LOAD);
    text_set(ini.hint[0].speed, sizeof ini.hint[0].speed, "sectors instructions");
    text_set(ini.hint[1].text, sizeof ini.hint[1].text, FUSE);
    text_set(ini.hint[1].speed, sizeof ini.hint[1].speed, "launches instructions");
    text_set(ini.hint[2].text, sizeof ini.hint[2].text, PAD);
    text_set(ini.hint[2].speed, sizeof ini.hint[2].speed, "bank-conflicts");
    return &ini;
}

static void expect(const char *source, SlowCause cause, const char *shown, const char *hint)
{
    const SlowHintSituation situation = {source, SKELETON, &shown, shown != NULL, 0, 0};
    const char *chosen = slow_hint_choose(lab(), &cause, 1, &situation);
    if (!hint)
        assert_null(chosen);
    else
        assert_string_equal(chosen, hint);
}

static void a_hint_of_an_unwritten_region_comes_first(void **state)
{
    (void)state;
    expect(SKELETON, SLOW_INSTRUCTIONS, NULL, LOAD);
    expect(FIRST_WRITTEN, SLOW_INSTRUCTIONS, NULL, FUSE);
    expect(FIRST_WRITTEN, SLOW_SECTORS, NULL, LOAD);
    expect(FIRST_WRITTEN, SLOW_BANKS, NULL, PAD);
    expect(FIRST_WRITTEN, SLOW_DRAM, NULL, NULL);
    expect(NULL, SLOW_INSTRUCTIONS, NULL, LOAD);
}

static void a_hint_is_not_repeated(void **state)
{
    (void)state;
    expect(SKELETON, SLOW_INSTRUCTIONS, LOAD, FUSE);
    expect(SKELETON, SLOW_SECTORS, LOAD, NULL);
}

static void the_most_important_cause_decides(void **state)
{
    (void)state;
    const SlowCause cause[] = {SLOW_BANKS, SLOW_SECTORS};
    const SlowHintSituation situation = {.source = SKELETON, .skeleton = SKELETON};
    assert_string_equal(slow_hint_choose(lab(), cause, 2, &situation), PAD);
    assert_string_equal(slow_hint_choose(lab(), cause + 1, 1, &situation), LOAD);
}

/* Stage A has TODO(1) and a case; stage B has TODO(2), first with a case, then without. */
static void hints_about_the_cases_regions_come_first(void **state)
{
    (void)state;
    static LabIni ini;
    ini = *lab();
    ini.stages = ini.cases = 2;
    ini.stage[0].first = ini.stage[0].last = 1;
    ini.stage[1].first = ini.stage[1].last = 2;
    ini.item[0].stage = 1;
    ini.item[1].stage = 2;
    SlowHintSituation situation = {.source = FIRST_WRITTEN, .skeleton = SKELETON};
    const SlowCause cause = SLOW_INSTRUCTIONS;
    slow_hint_regions(&ini, 1, &situation);
    assert_string_equal(slow_hint_choose(&ini, &cause, 1, &situation), LOAD);
    slow_hint_regions(&ini, 2, &situation);
    assert_string_equal(slow_hint_choose(&ini, &cause, 1, &situation), FUSE);
    ini.cases = 1;
    slow_hint_regions(&ini, 1, &situation);
    assert_string_equal(slow_hint_choose(&ini, &cause, 1, &situation), FUSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hint_of_an_unwritten_region_comes_first),
        cmocka_unit_test(a_hint_is_not_repeated),
        cmocka_unit_test(the_most_important_cause_decides),
        cmocka_unit_test(hints_about_the_cases_regions_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
