/* speed_counted.c - estimated cycles by valgrind's cachegrind, and the times that they are held
 * against.
 *
 * The counts are exact: the same on a busy machine as on an idle one.  But valgrind lives in the
 * process of the code that it counts, and code that knows its inside can make it count less.  So
 * its request sequence is refused, and counts that no clock confirms are for a person to look at:
 * the gain over the baseline in CPU time has to be at least half of the counted one.  On the
 * workbook's own programs the two differ by 5 to 15 % where nothing else runs. */
#include "autograder/judging/speed_counted.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autograder/judging/cycle_cache.h"
#include "autograder/sandbox/sandbox.h"
#include "autograder/text/files.h"
#include "autograder/text/text.h"

enum { MEASURED_CALLS = 10, ROUNDS = 5 };
static const double UNCONFIRMED = 2;

static const char VALGRIND_TOOL[] = "/usr/libexec/valgrind/cachegrind-amd64-linux";

/* What valgrind.h makes every request of: four rotations that do nothing.  A request can have code
 * run uncounted. */
static int program_asks_valgrind(const char *path)
{
    static const unsigned char request[] = {0x48, 0xc1, 0xc7, 0x03, 0x48, 0xc1, 0xc7, 0x0d,
                                            0x48, 0xc1, 0xc7, 0x3d, 0x48, 0xc1, 0xc7, 0x33};
    struct stat status;
    int asks = 1, fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && !fstat(fd, &status) && status.st_size > 0) {
        size_t bytes = (size_t)status.st_size;
        void *program = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        asks = program == MAP_FAILED || memmem(program, bytes, request, sizeof request);
        if (program != MAP_FAILED) munmap(program, bytes);
    }
    if (fd >= 0) close(fd);
    return asks;
}

/* One counted call of `slot` on fresh inputs; -1 with verdict and text of what was wrong in
 * *verdict. */
static int count_once(SpeedSetup *setup, int slot, const Problem *problem, Random *random,
                      uint64_t *cycles, RecordCase *verdict)
{
    Workload workload;
    Error error;
    Observed observed = {0};
    RunOutcome outcome = {0};
    RunCount count = {0};
    *verdict = (RecordCase){.verdict = CASE_BROKEN};
    if (workload_open(setup->judge->operation, problem, &workload, &error)) {
        text_set(verdict->text, sizeof verdict->text, "%s", error.text);
        return -1;
    }
    const float *const *tensor = (const float *const *)workload.tensor;
    judge_fill(setup->judge, &workload, random);
    if (!speed_start(setup, slot, &workload, verdict)) {
        judge_fill(setup->judge, &workload, random);
        double start = sandbox_clock();
        session_count(setup->judge->session, slot, tensor, workload.output, &observed, &outcome,
                      &count);
        setup->judge->spent[SPENT_CALLS] += sandbox_clock() - start;
        judge_output(setup->judge, &workload, &observed, &outcome, 0, verdict);
    }
    workload_close(&workload);
    *cycles = run_count_cycles(&count);
    return verdict->verdict == CASE_CORRECT && *cycles ? 0 : -1;
}

/* Of a call that could not be counted.  What valgrind cannot execute makes no case wrong; a wrong
 * output does. */
static void end_uncounted(RecordCase *item, const RecordCase *verdict)
{
    if (verdict->verdict == CASE_WRONG) {
        speed_wrong(item, verdict);
        return;
    }
    speed_end(&item->speed, case_is_left_out(verdict->verdict) ? SPEED_DEFERRED : SPEED_WRONG,
              "Right when it was called, but not when its instructions were counted: %.400s",
              verdict->text);
}

/* ---- the workbook's own programs ------------------------------------------------------------- */

/* One of them costs the same every time.  Until that is known it is counted beside the submission,
 * in processes of its own. */
typedef struct OwnCount {
    SpeedSetup beside;
    Judge judge; /* its own */
    int slot, threaded;
    const Problem *problem;
    CycleCacheKey key;
    uint64_t cycles; /* 0: not known */
    pthread_t thread;
} OwnCount;

static int own_count(OwnCount *own, SpeedSetup *setup, RecordSpeed *speed)
{
    Random random;
    RecordCase verdict;
    speed_own_inputs(&random);
    if (count_once(setup, own->slot, own->problem, &random, &own->cycles, &verdict)) {
        speed_end(speed, SPEED_DEFERRED,
                  "one of the workbook's own programs could not be counted: %.400s", verdict.text);
        return -1;
    }
    cycle_cache_keep(setup->cache, &own->key, &(DeviceCost){.cycles = own->cycles});
    return 0;
}

static void *own_count_beside(void *context)
{
    OwnCount *own = context;
    RecordSpeed unread;
    if (own_count(own, &own->beside, &unread)) own->cycles = 0;
    return NULL;
}

static void own_begin(OwnCount *own, const SpeedSetup *setup, int slot, const Problem *problem)
{
    char shape[256];
    Error error;
    const Operation *operation = setup->judge->operation;
    *own = (OwnCount){.beside = *setup, .judge = *setup->judge, .slot = slot, .problem = problem};
    operation->print(problem, shape, sizeof shape);
    own->key = cycle_cache_key(setup->build[slot]->digest, operation->name, shape, "cachegrind",
                               digest_file(setup->simulator, VALGRIND_TOOL));
    DeviceCost known;
    own->cycles = cycle_cache_find(setup->cache, &own->key, &known) ? 0 : known.cycles;
    own->judge.session = NULL;
    if (own->cycles || session_beside(setup->judge->session, &own->judge.session, &error)) return;
    own->beside.judge = &own->judge;
    memset(own->beside.started, 0, sizeof own->beside.started);
    own->threaded = !judge_begin_problem(&own->judge, problem, &error) &&
                    !pthread_create(&own->thread, NULL, own_count_beside, own);
}

static void own_end(OwnCount *own)
{
    if (own->threaded) pthread_join(own->thread, NULL);
    session_close(own->judge.session);
}

enum { OWN_SLOTS = SESSION_RUNNERS - SLOT_BASELINE };

struct OwnCounts {
    int count; /* cases */
    AheadCase *timed;
    OwnCount own[]; /* of each case OWN_SLOTS */
};

OwnCounts *own_counts_begin(const SpeedSetup *setup, const AheadCase *timed, int count)
{
    OwnCounts *counts = calloc(1, sizeof *counts + sizeof(OwnCount) * OWN_SLOTS * (size_t)count);
    if (counts) counts->timed = calloc((size_t)count, sizeof *counts->timed);
    if (!counts || !counts->timed) {
        free(counts);
        return NULL;
    }
    for (; counts->count < count; counts->count++) {
        AheadCase *one = &counts->timed[counts->count];
        *one = timed[counts->count];
        Judge judge = *setup->judge;
        SpeedSetup with = *setup;
        judge_choose(&judge, one->operation);
        with.judge = &judge;
        for (int i = 0; i < OWN_SLOTS; i++)
            own_begin(&counts->own[counts->count * OWN_SLOTS + i], &with, SLOT_BASELINE + i,
                      &one->problem);
    }
    return counts;
}

void own_counts_end(OwnCounts *counts)
{
    if (!counts) return;
    for (int i = 0; i < counts->count * OWN_SLOTS; i++)
        own_end(&counts->own[i]);
    free(counts->timed);
    free(counts);
}

/* ---- the clock ------------------------------------------------------------------------------- */

/* The least CPU time of some calls, each on inputs of its own; 0 when one fails. */
static double seconds_of(SpeedSetup *setup, int slot, const Problem *problem, Random *random)
{
    Workload workload;
    double least = 0;
    RecordCase unread;
    if (workload_open(setup->judge->operation, problem, &workload, NULL)) return 0;
    const float *const *tensor = (const float *const *)workload.tensor;
    judge_fill(setup->judge, &workload, random);
    int started = !speed_start(setup, slot, &workload, &unread);
    for (int i = 0; i < MEASURED_CALLS && started; i++) {
        Observed observed;
        RunOutcome outcome;
        judge_fill(setup->judge, &workload, random);
        judge_ask(setup->judge, slot, JUDGE_CALL, tensor, workload.output, &observed, &outcome);
        if (outcome.status != RUN_OK) {
            least = 0;
            break;
        }
        least = i ? fmin(least, outcome.cpu_seconds) : outcome.cpu_seconds;
    }
    workload_close(&workload);
    return least;
}

/* Shown beside the counts; a gain that the clock does not know at all is not believed.  Other work
 * disturbs a processor's caches, so what a clock denies once it is asked again. */
static void compare_measured(SpeedSetup *setup, const Problem *problem, Random *random,
                             RecordSpeed *speed)
{
    double gain = 0;
    for (int i = 0; i < ROUNDS && (gain <= 0 || speed->s > UNCONFIRMED * gain); i++) {
        double baseline = seconds_of(setup, SLOT_BASELINE, problem, random);
        double student = seconds_of(setup, SLOT_SUBMISSION, problem, random);
        if (!(baseline > 0 && student > 0)) return;
        if (baseline / student <= gain) continue;
        gain = baseline / student;
        text_set(speed->text, sizeof speed->text,
                 "measured here, not judged: %.2f ms, the baseline %.2f ms, %.2f times as fast",
                 student * 1e3, baseline * 1e3, gain);
    }
    if (speed->s <= 1 || speed->s <= UNCONFIRMED * gain) return;
    speed->verdict = SPEED_REVIEW;
    text_add(speed->text, sizeof speed->text,
             "; the counts say %.2f times: a person has to look at this", speed->s);
}

void speed_measure_counted(SpeedSetup *setup, const Problem *problem, Random *random,
                           RecordCase *item)
{
    RecordSpeed *speed = &item->speed;
    Error error;
    uint64_t student;
    RecordCase verdict;
    OwnCount baseline, reference;
    const char *cannot = session_cannot_count();
    if (cannot) {
        speed_end(speed, SPEED_DEFERRED, "%s", cannot);
        return;
    }
    if (program_asks_valgrind(setup->build[SLOT_SUBMISSION]->program)) {
        speed_end(speed, SPEED_WRONG,
                  "The program holds valgrind's request sequence, with which code can run "
                  "uncounted.");
        return;
    }
    if (judge_begin_problem(setup->judge, problem, &error)) {
        speed_end(speed, SPEED_DEFERRED, "%s", error.text);
        return;
    }
    own_begin(&baseline, setup, SLOT_BASELINE, problem);
    own_begin(&reference, setup, SLOT_REFERENCE, problem);
    int failed = count_once(setup, SLOT_SUBMISSION, problem, random, &student, &verdict);
    own_end(&baseline);
    own_end(&reference);
    if (failed) end_uncounted(item, &verdict);
    /* What could not be counted beside the submission is counted alone. */
    if (failed || (!baseline.cycles && own_count(&baseline, setup, speed)) ||
        (!reference.cycles && own_count(&reference, setup, speed)))
        return;
    speed->student = (double)student;
    speed->baseline = (double)baseline.cycles;
    speed->reference = (double)reference.cycles;
    speed->s = speed->s_low = speed->s_high = speed->baseline / speed->student;
    speed->s_ref = speed->baseline / speed->reference;
    speed->verdict = SPEED_SCORED;
    compare_measured(setup, problem, random, speed);
}
