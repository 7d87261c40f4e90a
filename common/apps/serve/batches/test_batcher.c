/* test_batcher.c - acceptance of requests and start of batches, with simulated time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "common/operations/operation/random.h"
#include "common/apps/serve/batches/batcher.h"

enum { LARGEST = 8, MOST = 32 };

/* A batch of n takes 900 + 100 n microseconds, so 1.7 ms at most. */
#define US     1000ull
#define FIXED  (900 * US)
#define EACH   (100 * US)
#define WHOLE  (FIXED + LARGEST * EACH)
#define LIMIT  (7000 * US)
#define WINDOW (200 * US)
#define MARGIN (500 * US)

static Batcher batcher;
static char client;

static void reopen(void)
{
    Error error;
    queue_close(&batcher.queue);
    batcher = (Batcher){.largest = LARGEST, .window = WINDOW, .margin = MARGIN};
    batcher.cost.memory = 4 * LIMIT;
    assert_int_equal(queue_open(&batcher.queue, MOST, LARGEST, &error), 0);
    for (int size = 1; size <= LARGEST; size *= 2)
        for (int i = 0; i < 8; i++)
            cost_begin(&batcher.cost, size, FIXED + (uint64_t)size * EACH);
}

static FrameStatus offer(uint64_t now, uint64_t deadline)
{
    Ticket ticket = {.client = &client, .arrival = now, .deadline = deadline};
    int place;
    return batcher_offer(&batcher, &ticket, now, &place);
}

/* Checks that no batch starts; returns *wake. */
static uint64_t waits_until(uint64_t now)
{
    uint64_t wake;
    assert_int_equal(batcher_size(&batcher, now, &wake), 0);
    return wake;
}

static int begins(uint64_t now)
{
    uint64_t wake;
    int size = batcher_size(&batcher, now, &wake);
    if (size) batcher_begin(&batcher, size, now);
    return size;
}

static void an_idle_device_waits_one_batching_window(void **state)
{
    (void)state;
    reopen();
    assert_int_equal(waits_until(0), UINT64_MAX);
    assert_int_equal(offer(1000 * US, 8000 * US), FRAME_ANSWERED);
    assert_int_equal(waits_until(1000 * US), 1200 * US);
    assert_int_equal(offer(1100 * US, 8100 * US), FRAME_ANSWERED);
    assert_int_equal(waits_until(1199 * US), 1200 * US);
    assert_int_equal(begins(1200 * US), 2);
}

static void a_full_batch_starts_immediately(void **state)
{
    (void)state;
    reopen();
    for (int i = 0; i < LARGEST + 1; i++)
        assert_int_equal(offer(0, LIMIT), FRAME_ANSWERED);
    assert_int_equal(begins(0), LARGEST);
    assert_int_equal(waits_until(1), UINT64_MAX); /* one at a time */
    batcher_end(&batcher, WHOLE);
    assert_int_equal(begins(WHOLE), 1); /* it has waited longer than a window */
}

/* Needs 1.7 ms and the margin: with a deadline at 2.3 ms it starts at 0.1 and not at 0.2. */
static void a_deadline_shortens_the_window(void **state)
{
    (void)state;
    reopen();
    assert_int_equal(offer(0, 2300 * US), FRAME_ANSWERED);
    assert_int_equal(waits_until(0), 100 * US);
    assert_int_equal(begins(100 * US), 1);
}

/* Alone on an idle device: 1 ms and the margin. */
static void hopeless_requests_are_rejected_immediately(void **state)
{
    (void)state;
    reopen();
    assert_int_equal(offer(0, 1499 * US), FRAME_LATE);
    assert_int_equal(offer(0, 0), FRAME_LATE);
    assert_int_equal(batcher.queue.waiting, 0);
    assert_int_equal(offer(0, 1500 * US), FRAME_ANSWERED);
}

/* At 0 a batch starts that ends at 1.7 ms; after it 8 more end at 3.4, the next 8 at 5.1, and with
 * the margin the next at 7.3. */
static void queue_length_follows_from_the_deadline(void **state)
{
    (void)state;
    reopen();
    for (int i = 0; i < LARGEST; i++)
        assert_int_equal(offer(0, LIMIT), FRAME_ANSWERED);
    assert_int_equal(begins(0), LARGEST);
    for (int i = 0; i < 2 * LARGEST; i++)
        assert_int_equal(offer(0, LIMIT), FRAME_ANSWERED);
    assert_int_equal(offer(0, LIMIT), FRAME_LATE);
    assert_int_equal(offer(0, LIMIT + 300 * US), FRAME_ANSWERED);
}

static void a_full_queue_refuses(void **state)
{
    (void)state;
    reopen();
    for (int i = 0; i < MOST; i++)
        assert_int_equal(offer(0, UINT64_MAX), FRAME_ANSWERED);
    assert_int_equal(offer(0, UINT64_MAX), FRAME_FULL);
}

/* Started at 0, due at 1 ms; at 4 ms it is 3 ms late, and assumed to need 3 more. */
static void no_requests_are_accepted_behind_a_hanging_batch(void **state)
{
    (void)state;
    reopen();
    assert_int_equal(offer(0, LIMIT), FRAME_ANSWERED);
    assert_int_equal(begins(WINDOW), 1);
    uint64_t now = WINDOW + 4000 * US;
    assert_int_equal(batcher_ready(&batcher, now), now + 3000 * US + WHOLE);
    assert_int_equal(offer(now, now + LIMIT), FRAME_ANSWERED);
    now = WINDOW + 6900 * US;
    assert_int_equal(offer(now, now + LIMIT), FRAME_LATE);
}

static void a_stop_answers_waiting_requests_and_rejects_new_ones(void **state)
{
    (void)state;
    reopen();
    assert_int_equal(offer(0, LIMIT), FRAME_ANSWERED);
    batcher.stopping = 1;
    assert_int_equal(offer(0, LIMIT), FRAME_STOPPING);
    assert_int_equal(begins(0), 1);
}

/* 2 * 1.7 + 0.2 + 0.5 ms fit into 7, twice that does not fit into 4. */
static void the_limit_decides_batch_and_queue(void **state)
{
    (void)state;
    reopen();
    assert_int_equal(batcher_largest(&batcher.cost, LARGEST, LIMIT, WINDOW, MARGIN), LARGEST);
    assert_int_equal(batcher_largest(&batcher.cost, LARGEST, 4000 * US, WINDOW, MARGIN), 4);
    assert_int_equal(batcher_largest(&batcher.cost, LARGEST, 1500 * US, WINDOW, MARGIN), 1);
    assert_int_equal(batcher_largest(&batcher.cost, LARGEST, 1499 * US, WINDOW, MARGIN), 0);
    assert_int_equal(batcher_most(&batcher.cost, LARGEST, LIMIT, MARGIN), 2 * LARGEST);
}

/* ---- deadlines of accepted requests, with random times ------------------------------------ */

typedef struct Day {
    uint64_t now, ends; /* ends: end of the running batch, or UINT64_MAX */
    Random random;
    int asked, refused, answered, missed;
} Day;

static void batch_ends(Day *day)
{
    for (int i = 0; i < batcher.queue.running; i++) {
        Ticket *ticket = &batcher.queue.ticket[batcher.queue.batch[i]];
        day->answered += ticket->deadline >= day->now;
        day->missed += ticket->deadline < day->now;
        ticket->client = NULL;
    }
    batcher_end(&batcher, day->now);
    day->ends = UINT64_MAX;
}

/* A batch takes its estimated time, or up to a tenth less. */
static uint64_t batch_begins(Day *day)
{
    uint64_t wake;
    int size = batcher_size(&batcher, day->now, &wake);
    if (!size) return wake;
    uint64_t takes = FIXED + (uint64_t)size * EACH;
    batcher_begin(&batcher, size, day->now);
    day->ends = day->now + takes - (uint64_t)(0.1 * (double)takes * random_unit(&day->random));
    return UINT64_MAX;
}

/* Simulates `requests` requests, about `gap` apart, with deadlines of 1 to 7 ms if `mixed`. */
static Day live(int requests, uint64_t gap, int mixed)
{
    Day day = {.ends = UINT64_MAX};
    uint64_t next = 0;
    random_seed(&day.random, gap);
    reopen();
    while (day.asked < requests || batcher.queue.waiting || batcher.queue.running) {
        uint64_t wake = batch_begins(&day);
        uint64_t come = day.asked < requests ? next : UINT64_MAX;
        day.now = come < day.ends ? come : day.ends;
        if (wake < day.now) day.now = wake;
        if (day.now == day.ends) batch_ends(&day);
        if (day.now != come) continue;
        uint64_t limit = mixed ? LIMIT - (uint64_t)(6e6 * random_unit(&day.random)) : LIMIT;
        day.asked++;
        day.refused += offer(day.now, day.now + limit) != FRAME_ANSWERED;
        next = come + (uint64_t)(2 * (double)gap * random_unit(&day.random));
    }
    return day;
}

/* At most 8 in 1.7 ms: one every 213 us, or slightly more, because batches take slightly less. */
static void accepted_requests_are_answered_before_their_deadline(void **state)
{
    (void)state;
    const uint64_t gap[] = {2000 * US, 430 * US, 236 * US, 213 * US, 106 * US, 20 * US};
    for (size_t i = 0; i < sizeof gap / sizeof *gap; i++) {
        Day day = live(20000, gap[i], 0);
        assert_int_equal(day.missed, 0);
        assert_int_equal(day.answered + day.refused, 20000);
        if (gap[i] >= 236 * US) assert_int_equal(day.refused, 0);
        if (gap[i] <= 106 * US) /* full batches, one after the other */
            assert_true(day.answered > 0.97 * 20000 * (double)gap[i] / (WHOLE / 8.0));
    }
}

static void with_deadlines_of_all_kinds_as_well(void **state)
{
    (void)state;
    for (uint64_t gap = 50 * US; gap <= 800 * US; gap *= 2) {
        Day day = live(20000, gap, 1);
        assert_int_equal(day.missed, 0);
        assert_int_equal(day.answered + day.refused, 20000);
        assert_true(day.answered > 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_device_waits_one_batching_window),
        cmocka_unit_test(a_full_batch_starts_immediately),
        cmocka_unit_test(a_deadline_shortens_the_window),
        cmocka_unit_test(hopeless_requests_are_rejected_immediately),
        cmocka_unit_test(queue_length_follows_from_the_deadline),
        cmocka_unit_test(a_full_queue_refuses),
        cmocka_unit_test(no_requests_are_accepted_behind_a_hanging_batch),
        cmocka_unit_test(a_stop_answers_waiting_requests_and_rejects_new_ones),
        cmocka_unit_test(the_limit_decides_batch_and_queue),
        cmocka_unit_test(accepted_requests_are_answered_before_their_deadline),
        cmocka_unit_test(with_deadlines_of_all_kinds_as_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
