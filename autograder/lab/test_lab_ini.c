#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/lab/hidden.h"
#include "autograder/text/ini_file.h"
#include "autograder/lab/lab_ini.h"
#include "autograder/lab/lab_shape.h"
#include "common/operations/catalog/operations.h"

#define GOOD_LAB                                                                                   \
    "[lab]\n"                                                                                      \
    "title = One thread per output ; shown\n"                                                      \
    "part = From a loop\n"                                                                         \
    "order = 2\n"                                                                                  \
    "source = conv.cu\n"                                                                           \
    "operation = conv_forward\n"                                                                   \
    "precision = fp32\n"                                                                           \
    "baseline = baseline.cu\n"                                                                     \
    "needs = cc >= 7.5, engine = sim\n"
#define GOOD_POINTS "[points]\ncorrect = 50\nspeed = 30\npredict = 20\n"
#define GOOD_SPEED  "[speed]\nslack = 1.2\n"
#define GOOD_CASE                                                                                  \
    "[case lenet-c1]\n"                                                                            \
    "shape = N=4 C=1 H=32 W=32 K=6 R=5 S=5 pad=valid stride=1\n"                                   \
    "timed = yes\n"                                                                                \
    "about = LeNet-5 C1\n"
#define GOOD_HIDDEN "[hidden]\ncount = 6\nmax_macs = 2e6\n"
#define GOOD_PREDICT                                                                               \
    "[predict blocks]\ncase = lenet-c1\nmetric = blocks\nquestion = How many?\ntolerance = 0\n"    \
    "points = 20\n"
#define GOOD_HINT "[hint 1]\ntext = First line\n  and the second.\n[hint tile-edge]\ntext = Halo.\n"
#define GOOD      GOOD_LAB GOOD_POINTS GOOD_SPEED GOOD_CASE GOOD_HIDDEN GOOD_PREDICT GOOD_HINT

static LabIni lab;

static void ptx_is_compiled_for_the_required_capability(void **state)
{
    (void)state;
    Error error = {""};
    char text[] = GOOD;
    assert_int_equal(lab_ini_parse("labs/x/lab.ini", text, strlen(text), &lab, &error), 0);
    assert_int_equal(lab_ini_cc(&lab), 75);
    memcpy(strstr(text, "7.5"), "8.6", 3);
    assert_int_equal(lab_ini_parse("labs/x/lab.ini", text, strlen(text), &lab, &error), 0);
    assert_int_equal(lab_ini_cc(&lab), 86);
    memcpy(strstr(text, "8.6"), "3.5", 3);
    assert_int_equal(lab_ini_parse("labs/x/lab.ini", text, strlen(text), &lab, &error), 0);
    assert_int_equal(lab_ini_cc(&lab), 75); /* the oldest one that nvcc supports */
    memcpy(strstr(text, "cc >= 3.5"), "cc = 9.0 ", 9);
    assert_int_equal(lab_ini_parse("labs/x/lab.ini", text, strlen(text), &lab, &error), 0);
    assert_int_equal(lab_ini_cc(&lab), 90);
    assert_int_equal(lab.need[0].exact, 1);
}

static void a_valid_file_is_read_completely(void **state)
{
    (void)state;
    Error error = {""};
    assert_int_equal(lab_ini_parse("labs/x/lab.ini", GOOD, strlen(GOOD), &lab, &error), 0);
    assert_string_equal(lab.title, "One thread per output");
    assert_int_equal(lab.order, 2);
    assert_int_equal(lab.host, 0);
    assert_string_equal(lab.gpu, "h200");
    assert_int_equal(lab.needs, 2);
    assert_int_equal(lab.need[0].cc_major * 10 + lab.need[0].cc_minor, 75);
    assert_int_equal(lab.need[0].engine, ENGINE_AUTO);
    assert_int_equal(lab.need[1].engine, ENGINE_SIM);
    assert_int_equal(lab.cases, 1);
    assert_int_equal(lab.timed_cases, 1);
    assert_int_equal(lab_case_find(&lab, "lenet-c1"), 0);
    assert_memory_equal(&lab.item[0].problem, &lab.item[0].problem_gpu, sizeof(Problem));
    assert_int_equal(lab.hidden_count, 6);
    assert_float_equal(lab.hidden_max_macs, 2e6, 0);
    assert_string_equal(lab.prediction[0].formula, "blocks");
    assert_int_equal(lab.prediction[0].needs_launch, 1);
    assert_string_equal(lab_stage_hint(&lab, 1), "First line and the second.");
    assert_null(lab_stage_hint(&lab, 2));
    assert_string_equal(lab_fault_hint(&lab, "tile-edge"), "Halo.");
    assert_null(lab_fault_hint(&lab, "halo"));
    assert_null(lab_fault_hint(&lab, ""));
}

static void stages_have_regions_and_cases(void **state)
{
    (void)state;
    Error error = {""};
    static const char text[] = GOOD_LAB GOOD_POINTS GOOD_SPEED
        "[stage A]\ntitle = gather\ntodos = 1-3\n[stage B]\ntitle = the rest\ntodos = 4\n" GOOD_CASE
        "stage = B\n" GOOD_HIDDEN GOOD_PREDICT GOOD_HINT;
    assert_int_equal(lab_ini_parse("x", text, strlen(text), &lab, &error), 0);
    assert_int_equal(lab.stages, 2);
    assert_string_equal(lab.stage[0].title, "gather");
    assert_int_equal(lab.stage[0].last, 3);
    assert_int_equal(lab.stage[1].first, 4);
    assert_int_equal(lab.stage[1].last, 4);
    assert_int_equal(lab.item[0].stage, 2);
    assert_int_equal(lab_ini_parse("x", GOOD, strlen(GOOD), &lab, &error), 0);
    assert_int_equal(lab.item[0].stage, 0);
}

/* GOOD with the first `from` replaced by `to` is rejected with exactly this; "..." matches any
 * end. */
typedef struct BadLab {
    const char *from, *to, *message;
} BadLab;

static const BadLab BAD[] = {
    {"[speed]", "[sped]", "x:1: there is no section [speed]"},
    {"[speed]\nslack", "[velocity]\nslack = 1\n[speed]\nslack",
     "x:14: unknown section [velocity]; there are: lab, points, speed, case NAME, hidden, predict "
     "NAME, hint N, hint FAULT, todo N, stage NAME"},
    {"[hidden]", "[stage A]\ntodos = 1-2\n[hidden]", "x:20: [stage A] lacks 'title'"},
    {"[hidden]", "[stage A]\ntitle = a\ntodos = 2-3\n[hidden]",
     "x:20: todos is a range of TODO regions that starts with 1, such as 1-3, not '2-3'"},
    {"[hidden]", "[stage A]\ntitle = a\ntodos = 1 - 2\n[hidden]",
     "x:20: todos is a range of TODO regions that starts with 1, such as 1-3, not '1 - 2'"},
    {"[hidden]", "[stage A]\ntitle = a\ntodos = 1-2\n[stage B]\ntitle = b\ntodos = 2\n[hidden]",
     "x:23: todos is a range of TODO regions that starts with 3, such as 3-5, not '2'"},
    {"timed = yes", "timed = yes\nstage = A", "x:19: there is no [stage A] above"},
    {"part =", "prat =",
     "x:3: unknown key 'prat' in [lab]; it takes: title, part, order, takes, after, source, "
     "operation, "
     "precision, algorithm, rules, baseline, needs, gpu, papers"},
    {"part = From a loop\n", "", "x:1: [lab] lacks 'part'"},
    {"order = 2", "order = two", "x:4: 'order' is not a number: 'two'"},
    {"order = 2", "order = 2.5", "x:4: 'order' is a whole number, not 2.5"},
    {"order = 2", "order = -1", "x:4: 'order' is -1, but must lie in 0..9999"},
    {"order = 2", "order = nan", "x:4: 'order' is not a number: 'nan'"},
    {"slack = 1.2", "slack = 1.2\nnone_below = 0.9",
     "x:14: none_below = 0.9 in case lenet-c1 is above 1 / slack = 0.833"},
    {"slack = 1.2", "slack = 1.2\nnone_below = 2", "x:16: 'none_below' is 2, but must lie in 0..1"},
    {"timed = yes", "timed = yes\nnone_below = 0.84",
     "x:14: none_below = 0.84 in case lenet-c1 is above 1 / slack = 0.833"},
    {"slack = 1.2", "slack = 0.5", "x:15: 'slack' is 0.5, but must lie in 1..10"},
    {"conv.cu", "../conv.cu",
     "x:5: source is the name of a .cu or .c file in this directory, not '../conv.cu'"},
    {"conv.cu", "conv.py",
     "x:5: source is the name of a .cu or .c file in this directory, not 'conv.py'"},
    {"baseline.cu", "../../etc/passwd",
     "x:8: baseline is a file of this directory or a lab's name, not '../../etc/passwd'"},
    {"LeNet-5 C1\n", "LeNet-5 C1\noperation = conv_sideways\n",
     "x:20: unknown operation 'conv_sideways'; there are: brighten, conv_forward..."},
    {"LeNet-5 C1\n", "LeNet-5 C1\noperation = conv_forward_host\n",
     "x:20: 'conv_forward_host' does not run where the lab's operation does"},
    {"fp32", "fp8", "x:7: precision is fp32, tf32 or fp16, not 'fp8'"},
    {"precision = fp32", "precision = fp32\nalgorithm = fft",
     "x:8: algorithm is sums, winograd-4x4 or fft-64x64, not 'fft'"},
    {"precision = fp32", "precision = fp32\nrules = warp", "x:8: rules is warp-sync, not 'warp'"},
    {"cc >= 7.5", "cc > 7.5",
     "x:9: 'cc > 7.5' is not a valid requirement; write cc >= X.Y, cc = 9.0, engine = gpu or "
     "engine = sim"},
    {"engine = sim", "engine = fpga",
     "x:9: 'engine = fpga' is not a valid requirement; write cc >= X.Y, cc = 9.0, engine = gpu or "
     "engine = sim"},
    {"predict = 20", "predict = 15", "x:10: predict = 15, but the predictions add up to 20"},
    {"timed = yes", "timed = no", "x:10: speed = 30, but no case has timed = yes to earn it"},
    {"timed = yes", "timed = maybe", "x:18: 'timed' is yes or no, not 'maybe'"},
    {"about = LeNet-5 C1\n", "about =\n", "x:19: 'about' is empty"},
    {"[hidden]", GOOD_CASE "[hidden]",
     "x:20: section [case lenet-c1] appears twice; first on line 16"},
    {"timed = yes", "timed = yes\ntimed = yes",
     "x:19: 'timed' appears twice in [case lenet-c1]; first on line 18"},
    {"case = lenet-c1", "case = lenet-c9", "x:24: there is no [case lenet-c9] above"},
    {"metric = blocks", "metric = bloks", NULL},
    {"metric = blocks", "metric = blocks\nformula = N * K",
     "x:23: [predict blocks] needs one of metric and formula"},
    {"metric = blocks\n", "", "x:23: [predict blocks] needs one of metric and formula"},
    {"metric = blocks", "value = 18",
     "x:25: value = 18 is a bare number; write its calculation, such as  formula = floor(32768 / "
     "(28 * 64))"},
    {"metric = blocks", "formula = 18",
     "x:25: formula = 18 is a bare number; write its calculation, such as  formula = floor(32768 / "
     "(28 * 64))"},
    {"metric = blocks", "formula = N * (K", "x:25: formula: 'N * (K' breaks off"},
    {"metric = blocks", "formula = N / (K - 6)",
     "x:25: formula: 'N / (K - 6)' has no finite value; possibly it divides by zero"},
    {"metric = blocks", "formula = 2 * metres", NULL},
    {"text = First line\n  and the second.", "text =", "x:30: 'text' is empty"},
    {"[hint 1]", "[hint 2]", "x:29: the next staged hint is [hint 1]"},
    {"[hint tile-edge]", "[hint tile-egde]",
     "x:32: 'tile-egde' is not a known fault; see common/operations/operation/verdict.h"},
    {"[hint tile-edge]", "[hint 1]", "x:32: section [hint 1] appears twice; first on line 29"},
    {"[case lenet-c1]", "[case lenet c1]", "x:16: 'lenet c1' is no plain name"},
    {"[case lenet-c1]", "[case lenet-c1",
     "x:16: a section is [name] with a name of at most 47 characters"},
    {"[speed]", "rubbish\n[speed]", "x:14: neither [section], key = value nor a comment"},
    {"[lab]\n", "stray = 1\n[lab]\n", "x:1: a key before the first [section]"},
};

/* GOOD with `from` replaced by `to`; the caller frees it. */
static char *edited(const char *from, const char *to)
{
    const char *at = strstr(GOOD, from);
    assert_non_null(at);
    char *text = malloc(sizeof GOOD + strlen(to) + 1);
    size_t before = (size_t)(at - GOOD);
    memcpy(text, GOOD, before);
    strcpy(text + before, to);
    strcat(text, at + strlen(from));
    return text;
}

static void hidden_problems_may_have_other_keys(void **state)
{
    static const char *const LAYOUT[] = {"layout=nhwc", "layout=chwn"};
    (void)state;
    Error error;
    Random random;
    char *text = edited("max_macs = 2e6", "max_macs = 2e6\nwith = C=5 layout=nhwc | layout=chwn");
    assert_int_equal(lab_ini_parse("x", text, strlen(text), &lab, &error), 0);
    free(text);
    random_seed(&random, 3);
    for (int i = 0; i < 40; i++) {
        Problem problem;
        char shape[200];
        hidden_draw(&lab, &random, i, &problem)->print(&problem, shape, sizeof shape);
        assert_non_null(strstr(shape, LAYOUT[i % 2]));
        assert_int_equal(i % 2 == 0 && !strstr(shape, "C=5 "), 0);
    }
    text = edited("max_macs = 2e6", "max_macs = 2e6\nwith = R=99");
    assert_int_equal(lab_ini_parse("x", text, strlen(text), &lab, &error), -1);
    assert_non_null(strstr(error.text, "with: R=99 does not fit"));
    free(text);
}

#define POOL_CASE                                                                                  \
    "LeNet-5 C1\n[case s2]\noperation = pool_forward\n"                                            \
    "shape = N=1 C=2 H=8 W=8 R=2 S=2 pad=valid stride=2 kind=max\nabout = S2\n"

static void a_lab_may_have_several_operations(void **state)
{
    (void)state;
    Error error = {""};
    Random random;
    char *text = edited("LeNet-5 C1\n", POOL_CASE), shape[LAB_SHAPE_TEXT];
    if (lab_ini_parse("x", text, strlen(text), &lab, &error)) fail_msg("%s", error.text);
    free(text);
    assert_int_equal(lab.operations, 2);
    assert_string_equal(lab.entries, "conv_forward pool_forward");
    assert_string_equal(lab.item[0].operation->name, "conv_forward");
    assert_string_equal(lab.item[1].operation->name, "pool_forward");
    random_seed(&random, 3);
    for (int i = 0; i < 6; i++) {
        Problem problem, again;
        const Operation *drawn = hidden_draw(&lab, &random, i, &problem);
        assert_ptr_equal(drawn, lab.operation[i % 2]);
        lab_shape_print(&lab, drawn, &problem, shape, sizeof shape);
        assert_memory_equal(shape, drawn->name, strlen(drawn->name));
        assert_ptr_equal(lab_shape_parse(&lab, shape, &again, &error), drawn);
        assert_memory_equal(again.data, problem.data, problem.bytes);
    }
    Problem problem;
    assert_null(lab_shape_parse(&lab, "fc_forward N=1 C=2 K=3", &problem, &error));
    assert_string_equal(error.text, "'fc_forward' is none of this lab's operations: conv_forward, "
                                    "pool_forward");
}

static void hidden_shapes_are_for_every_operation(void **state)
{
    (void)state;
    Error error = {""};
    char *two = edited("LeNet-5 C1\n", POOL_CASE);
    char *few = strdup(two), *with = calloc(1, strlen(two) + 40);
    memcpy(strstr(few, "count = 6"), "count = 1", 9);
    assert_int_equal(lab_ini_parse("x", few, strlen(few), &lab, &error), -1);
    assert_string_equal(error.text,
                        "x:25: count = 1 leaves one of 2 operations without a hidden shape");
    char *end = strstr(two, "max_macs = 2e6");
    sprintf(with, "%.*swith = layout=nhwc\n%s", (int)(end - two), two, end);
    assert_int_equal(lab_ini_parse("x", with, strlen(with), &lab, &error), -1);
    assert_memory_equal(error.text, "x:26: with: unknown key \"layout\"", 32);
    free(two);
    free(few);
    free(with);
}

static void a_true_value_may_be_a_formula(void **state)
{
    (void)state;
    Error error = {""};
    char *text = edited("metric = blocks", "formula = ceil(P / 16) * ceil(Q / 16)\n  * N * K");
    assert_int_equal(lab_ini_parse("x", text, strlen(text), &lab, &error), 0);
    assert_string_equal(lab.prediction[0].formula, "ceil(P / 16) * ceil(Q / 16) * N * K");
    assert_int_equal(lab.prediction[0].needs_launch, 0);
    free(text);
}

/* A lab on the CPU has no launch whose metrics could be used. */
static void a_host_lab_needs_no_launch(void **state)
{
    (void)state;
    Error error = {""};
    char *text = edited("operation = conv_forward", "operation = conv_forward_host");
    assert_int_equal(lab_ini_parse("x", text, strlen(text), &lab, &error), -1);
    assert_string_equal(error.text, "x:25: 'blocks' needs a launch; this lab runs on the CPU");
    free(text);
}

static void a_lab_may_name_its_machine(void **state)
{
    (void)state;
    Error error;
    char *text = edited("needs =", "gpu = gtx480\nneeds =");
    assert_int_equal(lab_ini_parse("x", text, strlen(text), &lab, &error), 0);
    assert_string_equal(lab.gpu, "gtx480");
    free(text);
}

static void each_mistake_is_one_line_with_its_number(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        Error error = {""};
        char *text = edited(BAD[i].from, BAD[i].to);
        if (!lab_ini_parse("x", text, strlen(text), &lab, &error))
            fail_msg("accepted: %s", BAD[i].to);
        assert_null(strchr(error.text, '\n'));
        const char *any = BAD[i].message ? strstr(BAD[i].message, "...") : NULL;
        if (any) strcpy(error.text + (any - BAD[i].message), "...");
        if (BAD[i].message) assert_string_equal(error.text, BAD[i].message);
        free(text);
    }
}

static void an_unknown_operation_lists_the_known(void **state)
{
    (void)state;
    Error error = {""};
    char expected[1024];
    char *text = edited("conv_forward", "conv_sideways");
    snprintf(expected, sizeof expected,
             "x:6: unknown operation 'conv_sideways'; there are: %s; add _host for C on the host",
             operation_names());
    assert_non_null(strstr(expected, "conv_forward, "));
    assert_int_equal(lab_ini_parse("x", text, strlen(text), &lab, &error), -1);
    assert_string_equal(error.text, expected);
    free(text);
}

static void a_bad_shape_names_its_line(void **state)
{
    (void)state;
    static const char *const SHAPE[] = {"N=0 C=1", "N=4 C=1 H=2 W=32", "Z=1"};
    Error error;
    char *text = edited("N=4 C=1 H=32 W=32", "N=4 C=1 H=2 W=2");
    assert_int_equal(lab_ini_parse("x", text, strlen(text), &lab, &error), -1);
    assert_memory_equal(error.text, "x:17: shape: ", 13);
    free(text);
    for (size_t i = 0; i < sizeof SHAPE / sizeof *SHAPE; i++) {
        text = edited("N=4 C=1", SHAPE[i]);
        assert_int_equal(lab_ini_parse("x", text, strlen(text), &lab, &error), -1);
        assert_memory_equal(error.text, "x:17: shape: ", 13);
        free(text);
    }
}

static void long_lines_are_rejected_not_truncated(void **state)
{
    (void)state;
    Error error;
    char about[400] = "about = ";
    memset(about + 8, 'x', 300);
    char *text = edited("about = LeNet-5 C1", about);
    assert_int_equal(lab_ini_parse("x", text, strlen(text), &lab, &error), -1);
    assert_string_equal(error.text,
                        "x:19: the line is too long; continue on the next line, indented");
    free(text);
    assert_int_equal(lab_ini_parse("x", "[lab]\0\n", 7, &lab, &error), -1);
    assert_string_equal(error.text, "x:1: not a text file");
}

static void missing_files_and_directories_are_reported(void **state)
{
    (void)state;
    Error error;
    assert_int_equal(lab_ini_read("/nowhere/lab.ini", "labs/9/lab.ini", &lab, &error), -1);
    assert_string_equal(error.text, "labs/9/lab.ini: No such file or directory");
    assert_int_equal(lab_ini_read("/tmp", "labs/9/lab.ini", &lab, &error), -1);
    assert_memory_equal(error.text, "labs/9/lab.ini: ", 16);
}

static uint32_t next(uint32_t *random)
{
    *random = *random * 1664525 + 1013904223;
    return *random >> 8;
}

/* The same 20,000 damaged files every time: each is rejected with one line or accepted, without a
 * crash. */
static void damaged_files_are_rejected(void **state)
{
    (void)state;
    static const char *const PIECE[] = {
        "[",   "]",  "=",  ";",    "\n", "\n ",      "[case x]\n", "-1", "1e999", "\303",
        "nan", "\t", "\r", "text", ":",  "pad=same", "[lab]\n",    "#",  "\0x",   " "};
    size_t bytes = strlen(GOOD);
    uint32_t random = 1;
    int accepted = 0;
    for (int i = 0; i < 20000; i++) {
        char text[2 * sizeof GOOD];
        size_t length = bytes;
        memcpy(text, GOOD, bytes);
        for (uint32_t edits = 1 + next(&random) % 4; edits; edits--) {
            const char *piece = PIECE[next(&random) % 20];
            size_t at = next(&random) % length, cut = next(&random) % 3 ? 0 : next(&random) % 20;
            size_t add = next(&random) % 2 ? strlen(piece) : 0;
            if (at + cut > length) cut = length - at;
            memmove(text + at + add, text + at + cut, length - at - cut);
            memcpy(text + at, piece, add);
            length += add - cut;
        }
        Error error = {""};
        if (lab_ini_parse("x", text, length, &lab, &error)) {
            assert_memory_equal(error.text, "x:", 2);
            assert_null(strchr(error.text, '\n'));
        } else {
            accepted++;
            assert_true(lab.cases > 0 && lab.operations > 0);
        }
    }
    assert_in_range(accepted, 500, 15000);
}

static void a_layer_name_replaces_a_shape(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shape;
    } layer[] = {
        {"vgg-16/conv2_1", "N=1 C=64 H=112 W=112 K=128 R=3 S=3 pad=1 stride=1 "},
        {"vgg-16/conv2_1 N=8 stride=2", "C=64 H=112 W=112 K=128 R=3 S=3 pad=1  N=8 stride=2"},
        {"conv_backward_data lenet-5/c1",
         "conv_backward_data N=1 C=1 H=32 W=32 K=6 R=5 S=5 pad=valid stride=1 "},
        {"N=1 C=2", "N=1 C=2"},
    };
    char shape[LAB_SHAPE_TEXT];
    Error error = {""};
    for (size_t i = 0; i < sizeof layer / sizeof *layer; i++) {
        assert_int_equal(lab_shape_layer(".", layer[i].text, shape, &error), 0);
        assert_string_equal(shape, layer[i].shape);
    }
    assert_int_equal(lab_shape_layer(".", "vgg-17/conv2_1", shape, &error), -1);
    assert_string_equal(error.text, "'vgg-17' is none of the networks in datasets/networks");
    assert_int_equal(lab_shape_layer(".", "vgg-16/conv2", shape, &error), -1);
    assert_string_equal(error.text, "vgg-16 has no layer 'conv2'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_have_regions_and_cases),
        cmocka_unit_test(a_valid_file_is_read_completely),
        cmocka_unit_test(ptx_is_compiled_for_the_required_capability),
        cmocka_unit_test(hidden_problems_may_have_other_keys),
        cmocka_unit_test(a_lab_may_have_several_operations),
        cmocka_unit_test(hidden_shapes_are_for_every_operation),
        cmocka_unit_test(a_true_value_may_be_a_formula),
        cmocka_unit_test(a_host_lab_needs_no_launch),
        cmocka_unit_test(a_lab_may_name_its_machine),
        cmocka_unit_test(each_mistake_is_one_line_with_its_number),
        cmocka_unit_test(an_unknown_operation_lists_the_known),
        cmocka_unit_test(a_bad_shape_names_its_line),
        cmocka_unit_test(long_lines_are_rejected_not_truncated),
        cmocka_unit_test(missing_files_and_directories_are_reported),
        cmocka_unit_test(damaged_files_are_rejected),
        cmocka_unit_test(a_layer_name_replaces_a_shape),
    };
    return cmocka_run_group_tests_name("autograder/lab_ini", tests, NULL, NULL);
}
