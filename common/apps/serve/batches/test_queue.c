/* test_queue.c - the ring buffer of requests, and the estimated cost of batches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/apps/serve/batches/cost.h"
#include "common/apps/serve/batches/queue.h"

static Queue queue;
static char ann, ben;
static uint64_t told[16];
static int tellings;

static void open(int most, int largest)
{
    Error error;
    tellings = 0;
    assert_int_equal(queue_open(&queue, most, largest, &error), 0);
}

static int put(void *client, uint64_t id, uint64_t deadline)
{
    Ticket ticket = {.client = client, .id = id, .deadline = deadline};
    return queue_put(&queue, &ticket);
}

static void tell(void *context, const Ticket *ticket)
{
    (void)context;
    told[tellings++] = ticket->id;
}

static uint64_t running(int i)
{
    return queue.ticket[queue.batch[i]].id;
}

static void first_come_first_run(void **state)
{
    (void)state;
    open(3, 2);
    for (uint64_t id = 1; id <= 3; id++)
        assert_int_equal(put(&ann, id, 100), id - 1);
    assert_int_equal(put(&ann, 4, 100), -1);
    assert_int_equal(queue_first(&queue)->id, 1);
    queue_take(&queue, 2);
    assert_int_equal(queue.waiting, 1);
    assert_int_equal(running(0), 1);
    assert_int_equal(running(1), 2);
    assert_int_equal(queue_first(&queue)->id, 3);
    queue_release(&queue);
    queue_take(&queue, 1);
    assert_int_equal(running(0), 3);
    queue_release(&queue);
    assert_null(queue_first(&queue));
    queue_close(&queue);
}

/* While a batch runs, its places contain inputs that the device reads. */
static void slots_of_running_requests_are_not_reused(void **state)
{
    (void)state;
    open(2, 2);
    int places = queue_places(2, 2), first = put(&ann, 1, 100);
    queue_take(&queue, 1);
    for (int round = 0; round < 3 * places; round++) {
        int place = put(&ben, 2, 100);
        if (place < 0) break;
        assert_int_not_equal(place, first);
        queue_forget(&queue, &ben);
    }
    queue_release(&queue);
    assert_true(put(&ben, 3, 100) >= 0);
    queue_close(&queue);
}

static void cancelled_requests_are_skipped(void **state)
{
    (void)state;
    open(4, 4);
    put(&ben, 1, 100), put(&ann, 2, 100), put(&ben, 3, 100), put(&ann, 4, 100);
    assert_int_equal(queue_forget(&queue, &ben), 2);
    assert_int_equal(queue_forget(&queue, &ben), 0);
    assert_int_equal(queue.waiting, 2);
    assert_int_equal(queue_first(&queue)->id, 2);
    queue_take(&queue, 2);
    assert_int_equal(running(0), 2);
    assert_int_equal(running(1), 4);
    assert_int_equal(queue_forget(&queue, &ann), 2); /* running */
    assert_int_equal(queue.running, 2);
    assert_int_equal(queue.waiting, 0);
    queue_close(&queue);
}

static void late_requests_are_answered_once(void **state)
{
    (void)state;
    open(4, 1);
    put(&ann, 1, 10), put(&ann, 2, 30), put(&ann, 3, 20);
    queue_take(&queue, 1);
    queue_expire(&queue, 10, tell, NULL); /* a request is not late at its deadline */
    assert_int_equal(tellings, 0);
    queue_expire(&queue, 25, tell, NULL);
    assert_int_equal(tellings, 2);
    assert_int_equal(told[0], 1);
    assert_int_equal(told[1], 3);
    assert_int_equal(queue.waiting, 1);
    queue_expire(&queue, 26, tell, NULL);
    assert_int_equal(tellings, 2);
    queue_release(&queue);
    queue_take(&queue, 1);
    assert_int_equal(running(0), 2);
    queue_close(&queue);
}

/* ---- cost --------------------------------------------------------------------------------- */

enum { MEMORY = 1000000 };

static Cost begun(void)
{
    Cost cost = {.memory = MEMORY};
    for (int i = 0; i < 8; i++)
        cost_begin(&cost, 1, 100), cost_begin(&cost, 2, 110), cost_begin(&cost, 4, 150);
    return cost;
}

static void sizes_between_two_measured_cost_the_larger(void **state)
{
    (void)state;
    Cost cost = begun();
    assert_int_equal(cost_of(&cost, 1, 0), 100);
    assert_int_equal(cost_of(&cost, 2, 0), 110);
    assert_int_equal(cost_of(&cost, 3, 0), 150);
    assert_int_equal(cost_of(&cost, 4, 0), 150);
}

static void rare_delays_do_not_change_the_cost(void **state)
{
    (void)state;
    Cost cost = begun();
    for (int i = 0; i < 28; i++)
        cost_note(&cost, 2, 111, 1);
    for (int i = 0; i < 4; i++)
        cost_note(&cost, 2, 8000 + (uint64_t)i, 1);
    assert_int_equal(cost_of(&cost, 2, 1), 111);
    cost_note(&cost, 2, 9000, 1);
    assert_int_equal(cost_of(&cost, 2, 1), 8000);
    assert_int_equal(cost_of(&cost, 4, 1), 8000); /* a larger one takes at least as long */
    assert_int_equal(cost_of(&cost, 1, 1), 100);
}

/* No request is accepted into a batch that is too slow, so its time could never be updated. */
static void old_delays_expire(void **state)
{
    (void)state;
    Cost cost = begun();
    for (int i = 0; i < 40; i++)
        cost_note(&cost, 2, 7000, 5);
    assert_int_equal(cost_of(&cost, 2, 5 + MEMORY), 7000);
    assert_int_equal(cost_of(&cost, 2, 6 + MEMORY), 110);
    cost_note(&cost, 2, 120, 7 + MEMORY);
    assert_int_equal(cost_of(&cost, 2, 7 + MEMORY), 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_come_first_run),
        cmocka_unit_test(slots_of_running_requests_are_not_reused),
        cmocka_unit_test(cancelled_requests_are_skipped),
        cmocka_unit_test(late_requests_are_answered_once),
        cmocka_unit_test(sizes_between_two_measured_cost_the_larger),
        cmocka_unit_test(rare_delays_do_not_change_the_cost),
        cmocka_unit_test(old_delays_expire),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
