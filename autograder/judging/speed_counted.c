/* speed_counted.c - estimated cycles by valgrind's cachegrind, compared with CPU times.
 *
 * The counts are reproducible, on a busy machine as on an idle one.  But valgrind shares a process
 * with the code that it counts, and code that knows valgrind's internals can lower the counts.
 * Therefore programs with its request sequence are rejected.  Counts that the clock does not
 * confirm are marked for review: the gain over the baseline in CPU time has to be at least half of
 * the counted gain.  On the course's own programs the two differ by 5 to 15 % on an idle
 * machine. */
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

enum { MEASURED_CALLS = 5, ROUNDS = 10 };
static const double UNCONFIRMED = 2;

static const char VALGRIND_TOOL[] = "/usr/libexec/valgrind/cachegrind-amd64-linux";

/* The start of every request of valgrind.h: four rotations without effect.  A request can have code
 * run uncounted. */
static int program_uses_valgrind(const char *path)
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

/* One counted call of `slot` on fresh inputs; -1 with the failed run's verdict and text in
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

/* Ends the measurement of a call that could not be counted.  An instruction that valgrind cannot
 * execute does not make a case wrong; a wrong output does. */
static void end_uncounted(RecordCase *item, const RecordCase *verdict)
{
    if (verdict->verdict == CASE_WRONG) {
        speed_wrong(item, verdict);
        return;
    }
    speed_end(&item->speed, case_is_left_out(verdict->verdict) ? SPEED_DEFERRED : SPEED_WRONG,
              "Correct when it was called, but not when its instructions were counted: %.400s",
              verdict->text);
}

/* ---- parallel counts ------------------------------------------------------------------------- */

/* One program's count of one case, in a session and a thread of its own. */
typedef struct Count {
    SpeedSetup parallel;
    Judge judge; /* the count's own judge */
    int slot, threaded;
    const Problem *problem;
    Random random;     /* generator of its inputs */
    CycleCacheKey key; /* key of the course's own programs, whose cost is the same every time */
    uint64_t cycles;   /* 0: not known */
    RecordCase verdict;
    pthread_t thread;
} Count;

/* -1: count->verdict has the reason. */
static int count_run(Count *count, SpeedSetup *setup)
{
    if (count->slot != SLOT_SUBMISSION) speed_own_inputs(&count->random);
    int failed = count_once(setup, count->slot, count->problem, &count->random, &count->cycles,
                            &count->verdict);
    if (failed)
        count->cycles = 0;
    else if (count->slot != SLOT_SUBMISSION)
        cycle_cache_keep(setup->cache, &count->key, &(DeviceCost){.cycles = count->cycles});
    return failed;
}

static void *count_parallel(void *context)
{
    Count *count = context;
    count_run(count, &count->parallel);
    return NULL;
}

/* Whether the cache has the count of one of the course's own programs. */
static int count_known(Count *count, const SpeedSetup *setup)
{
    char shape[256];
    DeviceCost known;
    const Operation *operation = setup->judge->operation;
    operation->print(count->problem, shape, sizeof shape);
    count->key = cycle_cache_key(setup->build[count->slot]->digest, operation->name, shape,
                                 "cachegrind", digest_file(setup->simulator, VALGRIND_TOOL));
    if (cycle_cache_find(setup->cache, &count->key, &known)) return 0;
    count->cycles = known.cycles;
    return 1;
}

static void count_begin(Count *count, const SpeedSetup *setup, int slot, const Problem *problem,
                        const Random *random)
{
    Error error;
    *count = (Count){.parallel = *setup, .judge = *setup->judge, .slot = slot, .problem = problem};
    if (random) count->random = *random;
    count->judge.session = NULL;
    if ((slot != SLOT_SUBMISSION && count_known(count, setup)) ||
        session_open_parallel(setup->judge->session, &count->judge.session, &error))
        return;
    count->parallel.judge = &count->judge;
    memset(count->parallel.started, 0, sizeof count->parallel.started);
    count->threaded = !judge_begin_problem(&count->judge, problem, &error) &&
                      !pthread_create(&count->thread, NULL, count_parallel, count);
}

static void count_end(Count *count)
{
    if (count->threaded) pthread_join(count->thread, NULL);
    session_close(count->judge.session);
}

enum { OWN_SLOTS = SESSION_RUNNERS - SLOT_BASELINE };

struct Counts {
    int count; /* total number, `slots` for each case */
    PrecomputeCase *timed;
    Count one[];
};

/* Starts the slots from `first` on, for every case. */
static Counts *counts_begin(const SpeedSetup *setup, const PrecomputeCase *timed, int cases,
                            int first, int slots)
{
    Counts *counts = calloc(1, sizeof *counts + sizeof(Count) * (size_t)(slots * cases));
    if (counts) counts->timed = calloc((size_t)cases, sizeof *counts->timed);
    if (!counts || !counts->timed) {
        free(counts);
        return NULL;
    }
    for (; counts->count < slots * cases; counts->count++) {
        const int number = counts->count / slots;
        PrecomputeCase *one = &counts->timed[number];
        *one = timed[number];
        Judge judge = *setup->judge;
        SpeedSetup with = *setup;
        judge_choose(&judge, one->operation);
        with.judge = &judge;
        count_begin(&counts->one[counts->count], &with, first + counts->count % slots,
                    &one->problem, &one->random);
    }
    return counts;
}

Counts *counts_begin_own(const SpeedSetup *setup, const PrecomputeCase *timed, int cases)
{
    return counts_begin(setup, timed, cases, SLOT_BASELINE, OWN_SLOTS);
}

Counts *counts_begin_submission(const SpeedSetup *setup, const PrecomputeCase *timed, int cases)
{
    if (program_uses_valgrind(setup->build[SLOT_SUBMISSION]->program)) return NULL;
    return counts_begin(setup, timed, cases, SLOT_SUBMISSION, 1);
}

void counts_end(Counts *counts, uint64_t *cycles)
{
    if (!counts) return;
    for (int i = 0; i < counts->count; i++) {
        count_end(&counts->one[i]);
        if (cycles) cycles[i] = counts->one[i].cycles;
    }
    free(counts->timed);
    free(counts);
}

/* ---- the clock ------------------------------------------------------------------------------- */

/* The least CPU time of several calls, each with new inputs; 0 if one fails. */
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
        judge_run(setup->judge, slot, JUDGE_CALL, tensor, workload.output, &observed, &outcome);
        if (outcome.status != RUN_OK) {
            least = 0;
            break;
        }
        least = i ? fmin(least, outcome.cpu_seconds) : outcome.cpu_seconds;
    }
    workload_close(&workload);
    return least;
}

/* The measured time is shown next to the counts, and a gain that the clock does not show at all is
 * rejected.  Other work disturbs the processor's caches, so the measurement is repeated before it
 * is used against a count. */
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
                 "measured here, not graded: %.2f ms, the baseline %.2f ms, %.2f times as fast",
                 student * 1e3, baseline * 1e3, gain);
    }
    if (speed->s <= 1 || speed->s <= UNCONFIRMED * gain) return;
    speed->verdict = SPEED_REVIEW;
    text_add(speed->text, sizeof speed->text,
             "; the counts say %.2f times: an instructor has to review this", speed->s);
}

/* Programs without a parallel count are counted here. */
static int own_known(Count own[OWN_SLOTS], SpeedSetup *setup, RecordSpeed *speed)
{
    for (int i = 0; i < OWN_SLOTS; i++)
        if (!own[i].cycles && count_run(&own[i], setup)) {
            speed_end(speed, SPEED_DEFERRED,
                      "one of the workbook's own programs could not be counted: %.400s",
                      own[i].verdict.text);
            return 0;
        }
    return 1;
}

void speed_measure_counted(SpeedSetup *setup, const Problem *problem, Random *random,
                           RecordCase *item)
{
    RecordSpeed *speed = &item->speed;
    Error error;
    uint64_t student = setup->counted;
    RecordCase verdict;
    Count own[OWN_SLOTS];
    const char *cannot = session_cannot_count();
    if (cannot) {
        speed_end(speed, SPEED_DEFERRED, "%s", cannot);
        return;
    }
    if (program_uses_valgrind(setup->build[SLOT_SUBMISSION]->program)) {
        speed_end(speed, SPEED_WRONG,
                  "The program contains valgrind's request sequence, with which code can run "
                  "without being counted.");
        return;
    }
    if (judge_begin_problem(setup->judge, problem, &error)) {
        speed_end(speed, SPEED_DEFERRED, "%s", error.text);
        return;
    }
    for (int i = 0; i < OWN_SLOTS; i++)
        count_begin(&own[i], setup, SLOT_BASELINE + i, problem, NULL);
    int failed =
        !student && count_once(setup, SLOT_SUBMISSION, problem, random, &student, &verdict);
    for (int i = 0; i < OWN_SLOTS; i++)
        count_end(&own[i]);
    if (failed) end_uncounted(item, &verdict);
    if (failed || !own_known(own, setup, speed)) return;
    speed->student = (double)student;
    speed->baseline = (double)own[0].cycles;
    speed->reference = (double)own[SLOT_REFERENCE - SLOT_BASELINE].cycles;
    speed->s = speed->s_low = speed->s_high = speed->baseline / speed->student;
    speed->s_ref = speed->baseline / speed->reference;
    speed->verdict = SPEED_SCORED;
    compare_measured(setup, problem, random, speed);
}
