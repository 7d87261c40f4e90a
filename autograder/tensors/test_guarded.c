/* test_guarded.c - detection of damage around tensors, in this process's memory and on a fake
 * engine in plain memory, because a Device has guard bands only on a GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "autograder/tensors/guarded.h"

/* ---- an engine of plain memory ------------------------------------------------------------ */

typedef struct Engine {
    Device device;
    int live, room; /* number of allocations; maximum number */
} Engine;

static int engine_execute(Device *device, const DeviceCall *call, DeviceReply *reply)
{
    Engine *engine = (Engine *)device;
    memset(reply, 0, sizeof *reply);
    switch (call->kind) {
    case CALL_ALLOC:
        if (engine->live == engine->room)
            return device_fail(reply, DEVICE_OUT_OF_MEMORY, "no room for %llu bytes",
                               (unsigned long long)call->bytes);
        reply->value[0] = (uint64_t)(uintptr_t)malloc(call->bytes);
        engine->live++;
        break;
    case CALL_FREE:
        free((void *)(uintptr_t)call->dst);
        engine->live--;
        break;
    case CALL_COPY_TO_DEVICE:
        memcpy((void *)(uintptr_t)call->dst, call->data, call->data_bytes);
        break;
    case CALL_COPY_TO_HOST:
        reply->data = (void *)(uintptr_t)call->src;
        reply->data_bytes = call->bytes;
        break;
    default:
        fail_msg("a call of kind %d", (int)call->kind);
    }
    return 0;
}

static int engine_poison(Device *device, uint64_t address, uint64_t bytes, uint32_t word,
                         Error *error)
{
    (void)device;
    (void)error;
    for (uint64_t i = 0; i < bytes / 4; i++)
        memcpy((char *)(uintptr_t)address + 4 * i, &word, 4);
    return 0;
}

/* ---- two tensors -------------------------------------------------------------------------- */

enum { BAND = 16, X = 10, Y = 6, TENSORS = 2 };

static const uint32_t ROLE[TENSORS] = {TENSOR_INPUT, TENSOR_OUTPUT};
static const uint64_t FLOATS[TENSORS] = {X, Y};
static const float x[X] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
static const float *const input[TENSORS] = {x, NULL};

typedef struct Bench {
    Engine engine;
    GuardedTensors tensors;
    float output[Y];
    Damage damage;
} Bench;

static float *address(const Bench *bench, int tensor)
{
    return (float *)(uintptr_t)bench->tensors.address[tensor];
}

/* x, an input, and y, an output, freshly filled. */
static void bench_make(Bench *bench, int on_host, uint32_t band)
{
    Error error = {""};
    *bench = (Bench){.engine = {.device = {.execute = engine_execute, .poison = engine_poison},
                                .room = TENSORS}};
    Device *device = on_host ? NULL : &bench->engine.device;
    assert_int_equal(
        guarded_open(&bench->tensors, device, TENSORS, ROLE, FLOATS, NULL, band, &error), 0);
    assert_int_equal(guarded_fill(&bench->tensors, input, &error), 0);
}

static void bench_check(Bench *bench)
{
    Error error = {""};
    assert_int_equal(guarded_check(&bench->tensors, input, bench->output, &bench->damage, &error),
                     0);
}

static void bench_free(Bench *bench)
{
    guarded_close(&bench->tensors);
    assert_int_equal(bench->engine.live, 0);
}

static void untouched(void **state)
{
    (void)state;
    for (int round = 0; round < 4; round++) {
        Bench bench;
        bench_make(&bench, round & 1, round & 2 ? BAND : 0);
        bench_check(&bench);
        assert_int_equal(bench.damage.band_tensor, -1);
        assert_int_equal(bench.damage.input_changed, -1);
        assert_memory_equal(address(&bench, 0), x, sizeof x);
        for (int i = 0; i < Y; i++) {
            uint32_t word;
            memcpy(&word, bench.output + i, 4);
            assert_int_equal(word, OUTPUT_POISON);
        }
        bench_free(&bench);
    }
}

static void touch(int tensor, long offset, int band_tensor, long band_offset, int input_changed)
{
    for (int on_host = 0; on_host < 2; on_host++) {
        Bench bench;
        bench_make(&bench, on_host, BAND);
        address(&bench, tensor)[offset] = 0.0f;
        bench_check(&bench);
        assert_int_equal(bench.damage.band_tensor, band_tensor);
        if (band_tensor >= 0) assert_int_equal(bench.damage.band_offset, band_offset);
        assert_int_equal(bench.damage.input_changed, input_changed);
        assert_int_equal(bench.output[0] == 0.0f, tensor == 1 && offset == 0);
        bench_free(&bench);
    }
}

static void touched(void **state)
{
    (void)state;
    touch(1, 0, -1, 0, -1); /* a write to the output itself */
    touch(1, Y, 1, 0, -1);
    touch(1, Y + BAND - 1, 1, BAND - 1, -1);
    touch(1, -1, 1, -1, -1);
    touch(1, -BAND, 1, -BAND, -1);
    touch(0, X + 2, 0, 2, -1);
    touch(0, 0, -1, 0, 0);
    touch(0, X - 1, -1, 0, 0);
}

/* y[Y] += 1 beyond the last row: a quiet NaN would not change. */
static void a_sum_that_reads_past_the_end_is_found(void **state)
{
    (void)state;
    Bench bench;
    bench_make(&bench, 1, BAND);
    volatile float *beyond = address(&bench, 1) + Y;
    *beyond += 1.0f;
    bench_check(&bench);
    assert_int_equal(bench.damage.band_tensor, 1);
    assert_int_equal(bench.damage.band_offset, 0);
    bench_free(&bench);
}

static void refilled_tensors_are_like_new(void **state)
{
    Bench bench;
    Error error = {""};
    (void)state;
    bench_make(&bench, 1, BAND);
    address(&bench, 0)[1] = address(&bench, 1)[0] = address(&bench, 1)[Y] = 0;
    assert_int_equal(guarded_fill(&bench.tensors, input, &error), 0);
    bench_check(&bench);
    assert_int_equal(bench.damage.band_tensor, -1);
    assert_int_equal(bench.damage.input_changed, -1);
    assert_true(bench.output[0] != 0);
    bench_free(&bench);
}

static void failures_release_everything(void **state)
{
    static const float *const nothing[TENSORS];
    Engine engine = {.device = {.execute = engine_execute, .poison = engine_poison}, .room = 1};
    GuardedTensors tensors;
    Error error = {""};
    (void)state;
    assert_int_equal(
        guarded_open(&tensors, &engine.device, TENSORS, ROLE, FLOATS, NULL, BAND, &error), -1);
    assert_non_null(strstr(error.text, "no room"));
    assert_int_equal(engine.live, 0);
    engine.room = TENSORS;
    assert_int_equal(
        guarded_open(&tensors, &engine.device, TENSORS, ROLE, FLOATS, NULL, BAND, &error), 0);
    assert_int_equal(guarded_fill(&tensors, nothing, &error), -1); /* no inputs were sent yet */
    guarded_close(&tensors);
    assert_int_equal(engine.live, 0);
}

/* If a lab runs on the host, the damage is reported by an untrusted process. */
static void only_tensors_that_exist_are_named(void **state)
{
    const TensorShape shape[TENSORS] = {{.name = "x"}, {.name = "y"}};
    (void)state;
    for (int tensor = -2; tensor < 5; tensor++) {
        Damage damage = {.band_tensor = tensor, .input_changed = tensor, .band_offset = 7};
        Observed observed = {0};
        damage_name(&damage, shape, TENSORS, &observed);
        int known = tensor == 0 || tensor == 1;
        assert_int_equal(observed.band_broken != NULL, known);
        assert_int_equal(observed.input_changed != NULL, known);
        if (known) assert_string_equal(observed.band_broken, shape[tensor].name);
        if (known) assert_int_equal(observed.band_offset, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(untouched),
        cmocka_unit_test(touched),
        cmocka_unit_test(a_sum_that_reads_past_the_end_is_found),
        cmocka_unit_test(refilled_tensors_are_like_new),
        cmocka_unit_test(failures_release_everything),
        cmocka_unit_test(only_tensors_that_exist_are_named),
    };
    return cmocka_run_group_tests_name("guarded tensors", tests, NULL, NULL);
}
