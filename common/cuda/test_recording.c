/* The recorder and the order of its calls, with a device that only counts them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/cuda/recording.h"

enum { SIDE = DEVICE_STREAM_NON_BLOCKING };

typedef struct NoteDevice {
    Device device;
    unsigned calls[CALL_KINDS];
    uint64_t freed[16];
    int32_t status;
} NoteDevice;

static int note_execute(Device *device, const DeviceCall *call, DeviceReply *reply)
{
    NoteDevice *note = (NoteDevice *)device;
    memset(reply, 0, sizeof *reply);
    reply->status = note->status;
    if (call->kind == CALL_FREE) note->freed[note->calls[CALL_FREE] % 16] = call->dst;
    note->calls[call->kind]++;
    return 0;
}

static NoteDevice note_device(void)
{
    return (NoteDevice){.device = {.execute = note_execute}};
}

static int32_t do_call(Device *device, DeviceCall call)
{
    DeviceReply reply;
    assert_int_equal(device->execute(device, &call, &reply), 0);
    return reply.status;
}

static void launch(Device *device, uint32_t stream)
{
    do_call(device,
            (DeviceCall){.kind = CALL_LAUNCH, .stream = stream, .data = "p", .data_bytes = 1});
}

static void record(Device *device, uint32_t event, uint32_t stream)
{
    do_call(device, (DeviceCall){.kind = CALL_EVENT_RECORD, .event = event, .stream = stream});
}

static void wait_event(Device *device, uint32_t stream, uint32_t event)
{
    do_call(device, (DeviceCall){.kind = CALL_STREAM_WAIT, .event = event, .stream = stream});
}

/* Whether call `from` waits, directly or indirectly, for call `to`. */
static int reaches(const Recording *recording, size_t from, size_t to)
{
    size_t before[64], count = recording_edges(recording, from, before);
    for (size_t k = 0; k < count; k++)
        if (before[k] == to || reaches(recording, before[k], to)) return 1;
    return 0;
}

static int is_implied(const Recording *recording, const size_t *before, size_t count, size_t edge)
{
    for (size_t k = 0; k < count; k++)
        if (before[k] != edge && reaches(recording, before[k], edge)) return 1;
    return 0;
}

/* Checks that call i waits for exactly the listed calls, except for implied edges; -1 ends the
 * list. */
static void assert_waits(const Recording *recording, size_t i, ...)
{
    size_t before[64], count = recording_edges(recording, i, before);
    va_list list;
    va_start(list, i);
    int want = va_arg(list, int);
    for (size_t k = 0; k < count; k++) {
        if (is_implied(recording, before, count, before[k])) continue;
        assert_int_equal(before[k], want);
        want = va_arg(list, int);
    }
    assert_int_equal(want, -1);
    va_end(list);
}

static void work_is_recorded_with_its_data_and_queries_are_not(void **state)
{
    (void)state;
    NoteDevice note = note_device();
    Recording recording = {0};
    Device *recorder = recorder_open(&note.device, &recording);
    char data[] = "abc";
    do_call(recorder, (DeviceCall){.kind = CALL_ALLOC, .bytes = 64});
    do_call(recorder,
            (DeviceCall){.kind = CALL_COPY_TO_DEVICE, .dst = 256, .data = data, .data_bytes = 3});
    do_call(recorder, (DeviceCall){.kind = CALL_MEM_INFO});
    do_call(recorder, (DeviceCall){.kind = CALL_FILL, .dst = 256, .bytes = 0});
    do_call(recorder, (DeviceCall){.kind = CALL_FILL, .dst = 256, .bytes = 8});
    memset(data, 'x', 3);
    assert_int_equal(recording.count, 2);
    assert_memory_equal(recording.call[0].data, "abc", 3);
    assert_int_equal(recording.call[1].kind, CALL_FILL);
    assert_int_equal(note.calls[CALL_ALLOC] + note.calls[CALL_MEM_INFO], 2);
    recorder->close(recorder);
    recording_clear(&recording, &note.device);
    assert_int_equal(recording.count, 0);
}

static void failed_calls_are_not_recorded(void **state)
{
    (void)state;
    NoteDevice note = note_device();
    Recording recording = {0};
    Device *recorder = recorder_open(&note.device, &recording);
    note.status = DEVICE_ILLEGAL_ADDRESS;
    launch(recorder, 0);
    assert_int_equal(recording.count, 0);
    recorder->close(recorder);
    recording_clear(&recording, &note.device);
}

static void frees_wait_until_the_recording_is_cleared(void **state)
{
    (void)state;
    NoteDevice note = note_device();
    Recording recording = {0};
    Device *recorder = recorder_open(&note.device, &recording);
    for (uint64_t address = 256; address < 256 * 8; address += 256)
        assert_int_equal(do_call(recorder, (DeviceCall){.kind = CALL_FREE, .dst = address}), 0);
    assert_int_equal(do_call(recorder, (DeviceCall){.kind = CALL_FREE, .dst = 512}),
                     DEVICE_INVALID_VALUE);
    assert_int_equal(do_call(recorder, (DeviceCall){.kind = CALL_FREE}), 0);
    assert_int_equal(note.calls[CALL_FREE], 1); /* for NULL, which frees nothing */
    recorder->close(recorder);
    recording_clear(&recording, &note.device);
    assert_int_equal(note.calls[CALL_FREE], 8);
    assert_int_equal(note.freed[1], 256);
    assert_int_equal(note.freed[7], 256 * 7);
}

static void limits_end_the_recording_with_a_reason(void **state)
{
    (void)state;
    NoteDevice note = note_device();
    Recording recording = {0};
    Device *recorder = recorder_open(&note.device, &recording);
    for (int i = 0; i < RECORDING_CALLS; i++)
        launch(recorder, 0);
    assert_false(recording.overflow);
    launch(recorder, 0);
    assert_true(recording.overflow);
    assert_non_null(strstr(recording.why, "100000"));
    assert_int_equal(recording.count, RECORDING_CALLS);
    recording_clear(&recording, &note.device);

    size_t bytes = 100u << 20;
    void *data = calloc(1, bytes);
    for (int i = 0; i < 3; i++) {
        assert_false(recording.overflow);
        do_call(recorder,
                (DeviceCall){.kind = CALL_COPY_TO_DEVICE, .data = data, .data_bytes = bytes});
    }
    assert_true(recording.overflow);
    assert_non_null(strstr(recording.why, "256 MiB"));
    assert_int_equal(note.calls[CALL_COPY_TO_DEVICE], 3); /* executed nevertheless */
    free(data);
    recorder->close(recorder);
    recording_clear(&recording, &note.device);
}

/* ---- order ---------------------------------------------------------------------------------- */

typedef struct Fixture {
    NoteDevice note;
    Recording recording;
    Device *recorder;
} Fixture;

static int open_fixture(void **state)
{
    Fixture *fixture = calloc(1, sizeof *fixture);
    fixture->note = note_device();
    fixture->recorder = recorder_open(&fixture->note.device, &fixture->recording);
    *state = fixture;
    return 0;
}

static int close_fixture(void **state)
{
    Fixture *fixture = *state;
    fixture->recorder->close(fixture->recorder);
    recording_clear(&fixture->recording, &fixture->note.device);
    free(fixture);
    return 0;
}

static void streams_are_chains_of_their_own(void **state)
{
    Fixture *f = *state;
    launch(f->recorder, 1);
    launch(f->recorder, 2);
    launch(f->recorder, 1);
    launch(f->recorder, 2);
    assert_waits(&f->recording, 0, -1);
    assert_waits(&f->recording, 1, -1);
    assert_waits(&f->recording, 2, 0, -1);
    assert_waits(&f->recording, 3, 1, -1);
}

static void the_legacy_stream_is_a_barrier_for_blocking_streams(void **state)
{
    Fixture *f = *state;
    launch(f->recorder, 1);        /* 0 */
    launch(f->recorder, 2);        /* 1 */
    launch(f->recorder, 3 | SIDE); /* 2 */
    launch(f->recorder, 0);        /* 3 */
    launch(f->recorder, 1);        /* 4 */
    launch(f->recorder, 3 | SIDE); /* 5 */
    launch(f->recorder, 4);        /* 6: first use after the barrier */
    launch(f->recorder, 0);        /* 7 */
    launch(f->recorder, 0);        /* 8 */
    assert_waits(&f->recording, 3, 0, 1, -1);
    assert_waits(&f->recording, 4, 3, -1);
    assert_waits(&f->recording, 5, 2, -1);
    assert_waits(&f->recording, 6, 3, -1);
    assert_waits(&f->recording, 7, 4, 6, -1);
    assert_waits(&f->recording, 8, 7, -1);
}

static void events_join_streams(void **state)
{
    Fixture *f = *state;
    launch(f->recorder, 1 | SIDE);        /* 0 */
    record(f->recorder, 7, 1 | SIDE);     /* 1 */
    launch(f->recorder, 1 | SIDE);        /* 2: after the record, not waited for */
    launch(f->recorder, 2 | SIDE);        /* 3 */
    wait_event(f->recorder, 2 | SIDE, 7); /* 4 */
    launch(f->recorder, 2 | SIDE);        /* 5 */
    wait_event(f->recorder, 3 | SIDE, 9); /* 6: never recorded: no wait */
    launch(f->recorder, 3 | SIDE);        /* 7 */
    assert_waits(&f->recording, 2, 0, -1);
    assert_waits(&f->recording, 5, 0, 3, -1);
    assert_waits(&f->recording, 7, -1);
    assert_waits(&f->recording, 4, -1); /* no node */
}

static void an_event_means_its_latest_record(void **state)
{
    Fixture *f = *state;
    launch(f->recorder, 1 | SIDE);        /* 0 */
    record(f->recorder, 7, 1 | SIDE);     /* 1 */
    launch(f->recorder, 2 | SIDE);        /* 2 */
    record(f->recorder, 7, 2 | SIDE);     /* 3 */
    wait_event(f->recorder, 3 | SIDE, 7); /* 4 */
    launch(f->recorder, 3 | SIDE);        /* 5 */
    assert_waits(&f->recording, 5, 2, -1);
}

static void events_include_the_waits_of_their_stream(void **state)
{
    Fixture *f = *state;
    launch(f->recorder, 1 | SIDE);        /* 0 */
    record(f->recorder, 1, 1 | SIDE);     /* 1 */
    wait_event(f->recorder, 2 | SIDE, 1); /* 2 */
    record(f->recorder, 2, 2 | SIDE);     /* 3: no node between */
    wait_event(f->recorder, 3 | SIDE, 2); /* 4 */
    launch(f->recorder, 3 | SIDE);        /* 5 */
    assert_waits(&f->recording, 5, 0, -1);
}

static void host_synchronisation_orders_later_work(void **state)
{
    Fixture *f = *state;
    launch(f->recorder, 1 | SIDE);                                                    /* 0 */
    launch(f->recorder, 2 | SIDE);                                                    /* 1 */
    do_call(f->recorder, (DeviceCall){.kind = CALL_STREAM_SYNC, .stream = 1 | SIDE}); /* 2 */
    launch(f->recorder, 3 | SIDE);                                                    /* 3 */
    launch(f->recorder, 2 | SIDE);                                                    /* 4 */
    do_call(f->recorder, (DeviceCall){.kind = CALL_SYNC});                            /* 5 */
    launch(f->recorder, 4 | SIDE);                                                    /* 6 */
    launch(f->recorder, 1 | SIDE);                                                    /* 7 */
    record(f->recorder, 5, 4 | SIDE);                                                 /* 8 */
    do_call(f->recorder, (DeviceCall){.kind = CALL_EVENT_SYNC, .event = 5});          /* 9 */
    launch(f->recorder, 6 | SIDE);                                                    /* 10 */
    assert_waits(&f->recording, 3, 0, -1);
    assert_waits(&f->recording, 4, 0, 1, -1);
    assert_waits(&f->recording, 6, 3, 4, -1);
    assert_waits(&f->recording, 7, 3, 4, -1);
    assert_waits(&f->recording, 10, 6, -1);
}

static void copies_to_the_host_and_frees_synchronise(void **state)
{
    Fixture *f = *state;
    launch(f->recorder, 1 | SIDE); /* 0 */
    do_call(f->recorder,
            (DeviceCall){.kind = CALL_COPY_TO_HOST, .bytes = 4, .stream = 2 | SIDE}); /* 1 */
    launch(f->recorder, 3 | SIDE);                                                    /* 2 */
    do_call(f->recorder, (DeviceCall){.kind = CALL_FREE, .dst = 256});                /* 3 */
    launch(f->recorder, 4 | SIDE);                                                    /* 4 */
    assert_waits(&f->recording, 2, 1, -1);
    assert_waits(&f->recording, 4, 0, 2, -1);
}

/* The definition, computed slowly: the calls that must have ended before call i, as a bit set per
 * call, from the rules one by one.  Compared with the closure of recording_edges over random
 * recordings. */
enum { RANDOM_CALLS = 60 };

static uint64_t after_of(const Recording *recording, size_t i, const uint64_t *must)
{
    return must[i] | (recording_is_node(&recording->call[i]) ? 1ull << i : 0);
}

static int is_host_sync(const DeviceCall *call)
{
    return call->kind == CALL_SYNC || call->kind == CALL_STREAM_SYNC ||
           call->kind == CALL_EVENT_SYNC || call->kind == CALL_COPY_TO_HOST;
}

static int has_stream(const DeviceCall *call)
{
    return call->kind != CALL_SYNC && call->kind != CALL_EVENT_SYNC;
}

static int same_queue(const DeviceCall *a, const DeviceCall *b)
{
    if (!has_stream(a) || !has_stream(b)) return 0;
    if (a->stream == b->stream) return 1;
    return (a->stream == 0 && !(b->stream & SIDE)) || (b->stream == 0 && !(a->stream & SIDE));
}

static void slow_order(const Recording *recording, uint64_t *must)
{
    for (size_t i = 0; i < recording->count; i++) {
        const DeviceCall *call = &recording->call[i];
        must[i] = 0;
        int event_met = 0;
        for (size_t j = i; j-- > 0;) {
            const DeviceCall *other = &recording->call[j];
            int waits = same_queue(call, other) || is_host_sync(other) || call->kind == CALL_SYNC;
            if ((call->kind == CALL_STREAM_WAIT || call->kind == CALL_EVENT_SYNC) && !event_met &&
                other->kind == CALL_EVENT_RECORD && other->event == call->event)
                waits = event_met = 1;
            if (waits) must[i] |= after_of(recording, j, must);
        }
    }
}

static void random_call(Device *device)
{
    static const uint32_t kinds[] = {CALL_LAUNCH,       CALL_LAUNCH,       CALL_LAUNCH,
                                     CALL_EVENT_RECORD, CALL_EVENT_RECORD, CALL_STREAM_WAIT,
                                     CALL_STREAM_WAIT,  CALL_STREAM_SYNC,  CALL_EVENT_SYNC,
                                     CALL_SYNC,         CALL_COPY_TO_HOST};
    static const uint32_t streams[] = {0, 1, 2, 3, 4 | SIDE, 5 | SIDE, 6 | SIDE};
    uint32_t pick = (uint32_t)rand() % 44;
    do_call(device, (DeviceCall){.kind = kinds[pick < 22 ? pick % 11 : pick % 7],
                                 .stream = streams[rand() % 7],
                                 .event = 1 + (uint32_t)rand() % 3,
                                 .bytes = 4});
}

static void edges_agree_with_pairwise_rules(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 2000; round++) {
        NoteDevice note = note_device();
        Recording recording = {0};
        Device *recorder = recorder_open(&note.device, &recording);
        for (int i = 0; i < RANDOM_CALLS; i++)
            random_call(recorder);
        uint64_t must[64], closure[64] = {0};
        slow_order(&recording, must);
        for (size_t i = 0; i < recording.count; i++) {
            size_t before[64], count = recording_edges(&recording, i, before);
            for (size_t k = 0; k < count; k++) {
                assert_true(before[k] < i && recording_is_node(&recording.call[before[k]]));
                closure[i] |= closure[before[k]] | 1ull << before[k];
            }
            if (recording_is_node(&recording.call[i])) assert_int_equal(closure[i], must[i]);
        }
        recorder->close(recorder);
        recording_clear(&recording, &note.device);
    }
}

/* Half the streams wait for the other half through one event: a billion edges if all were
 * listed. */
static void a_hostile_recording_is_chained_quickly(void **state)
{
    Fixture *f = *state;
    uint32_t half = 14000;
    for (uint32_t i = 0; i < half; i++) {
        launch(f->recorder, (2 + i) | SIDE);
        record(f->recorder, 2 + i, (2 + i) | SIDE);
        wait_event(f->recorder, 1 | SIDE, 2 + i);
    }
    record(f->recorder, 1, 1 | SIDE);
    for (uint32_t i = 0; i < half; i++) {
        wait_event(f->recorder, (2 + half + i) | SIDE, 1);
        launch(f->recorder, (2 + half + i) | SIDE);
    }
    struct timespec begin, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    assert_waits(&f->recording, f->recording.count - 1, (int)f->recording.count - 3, -1);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    assert_true(end.tv_sec - begin.tv_sec < 5);
}

int main(void)
{
#define ORDER(test) cmocka_unit_test_setup_teardown(test, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_recorded_with_its_data_and_queries_are_not),
        cmocka_unit_test(failed_calls_are_not_recorded),
        cmocka_unit_test(frees_wait_until_the_recording_is_cleared),
        cmocka_unit_test(limits_end_the_recording_with_a_reason),
        ORDER(streams_are_chains_of_their_own),
        ORDER(the_legacy_stream_is_a_barrier_for_blocking_streams),
        ORDER(events_join_streams),
        ORDER(an_event_means_its_latest_record),
        ORDER(events_include_the_waits_of_their_stream),
        ORDER(host_synchronisation_orders_later_work),
        ORDER(copies_to_the_host_and_frees_synchronise),
        cmocka_unit_test(edges_agree_with_pairwise_rules),
        ORDER(a_hostile_recording_is_chained_quickly),
    };
    return cmocka_run_group_tests_name("cuda/recording", tests, NULL, NULL);
}
