/* session.h - grade's view of the other two processes: one `device`, a sandboxed `runner` per built
 * submission.
 *
 * Module: both ends of the conversation, and the protocol between.
 * Callers: judging, and the programs device and runner.
 * May use: build, sandbox, tensors, operation, cuda.
 *
 *   grade  --control socket-->  device  <--one socket a runner-->  runner, sandboxed:
 *                                                                  submission + drop-in runtime
 *
 * grade starts all of them.  device owns memory, engine, recordings and clocks; runner owns
 * nothing.  Every wait ends: by what the runner used or by what it waited for nothing, not by a
 * clock on the wall (session_limit.c).  Whatever it does (exit, crash, spin, sleep, fork, flood)
 * becomes a RunStatus and a sentence. */
#ifndef CONVLAB_AUTOGRADER_SESSION_SESSION_H
#define CONVLAB_AUTOGRADER_SESSION_SESSION_H

#include "autograder/build/build.h"
#include "autograder/session/run_status.h"
#include "common/operations/operation/operation.h"
#include "common/operations/operation/verdict.h"
#include "common/cuda/device.h"

typedef struct Session Session;

enum { SESSION_RUNNERS = 3, SESSION_PRINTED = 4096 };

typedef struct SessionOptions {
    DeviceEngine engine;          /* not ENGINE_AUTO */
    const char *machine;          /* sim: "h200" ...; gpu: ignored */
    int sim_threads;              /* 0: one per core */
    int checks;                   /* sim: initcheck on */
    double call_seconds;          /* CPU time of one call's host code, and waiting; 0: 10;
                                     less: kernels get a quarter of the instructions */
    uint64_t runner_memory_bytes; /* 0: 2 GiB */
    const char *gpus_directory;   /* of the machines' descriptions; NULL: common/simulator/gpus */
    const char *device_program;   /* NULL: `device` beside this program, or in ../../../bin */
} SessionOptions;

typedef struct RunOutcome {
    RunStatus status;
    char message[1536]; /* one or two lines for the student; "" when RUN_OK */
    DeviceCost cost;    /* of the call; host labs: seconds by the trusted side's clock */
    double
        cpu_seconds; /* host labs: that the runner ran during the call, by the kernel's account */
    RunSpent spent;
    uint32_t habits; /* DeviceHabit bits, as the submission's process says */
    int initcheck_findings;
    char finding[1024]; /* the first of them, also when RUN_OK; "" if none */
} RunOutcome;

int session_open(const SessionOptions *options, Session **session, Error *error);
/* Another one with the same options and processes of its own. */
int session_beside(const Session *session, Session **beside, Error *error);
void session_close(Session *session); /* kills and reaps everything */
void session_properties(const Session *session, DeviceProperties *properties);

/* Makes the built program runner `slot` (0 the submission, 1 the baseline, 2 the reference) in
 * place of what was there.  The process starts with the next call and anew for every problem, so
 * that nothing is carried from one problem to the next; of host labs only one runner lives at a
 * time, so that none can slow the others. */
int session_start_runner(Session *session, int slot, const Build *build, Error *error);

/* What the kernels of slot 0 printed so far, its beginning, cleaned for a terminal; "": nothing. */
const char *session_printed(Session *session);

/* Makes `problem` current, also when it was before: runners begin anew, a simulated GPU is a new
 * one, and the problem's tensors are allocated between guard bands on the device (device labs). */
int session_set_problem(Session *session, const Operation *operation, const Problem *problem,
                        int host, Error *error);

/* Makes another problem of the same operation current for the same runners, which live on with all
 * that they keep: for finding out whether they keep too much. */
int session_next_problem(Session *session, const Problem *problem, Error *error);

/* After the first RUN_LIMIT of slot 0 its calls may use less than before (session_limit.c): endless
 * code meets a limit in every case, and each has its judgement.
 *
 * Uploads fresh inputs (NULL: those that are there), poisons outputs and guard bands, calls the
 * entry point once in runner `slot` while recording, and reads the output back (tensor_count
 * floats, caller's memory; NULL: nobody looks).  observed->output points at `output`.  A dead
 * runner is restarted by the next call. */
void session_call(Session *session, int slot, const float *const *tensor, float *output,
                  Observed *observed, RunOutcome *outcome);

/* The same, but a simulated GPU neither counts nor prices: for what is priced by a replay, or not
 * at all. */
void session_search(Session *session, int slot, const float *const *tensor, float *output,
                    Observed *observed, RunOutcome *outcome);

/* The same for its outputs, or to be replayed: it does not look for races either, and takes a third
 * of a call's time. */
void session_probe(Session *session, int slot, const float *const *tensor, float *output,
                   Observed *observed, RunOutcome *outcome);

/* Device labs: replays the recording of the last session_call of `slot`, with the inputs given
 * (NULL: those that are there), outputs poisoned first and read back after, `repeats` times in one
 * timed window; on a GPU the L2 is flushed between repeats and the flushing is not in the time.
 * outcome->cost.seconds is one repeat's.  `repeats` 0: once, for the outputs alone, as
 * session_probe.  A replay has no streams and tells no findings: for these is session_call. */
void session_replay(Session *session, int slot, int repeats, const float *const *tensor,
                    float *output, Observed *observed, RunOutcome *outcome);

/* What valgrind's cachegrind counted of one call, on a machine that is described and not the one it
 * ran on (session_count.c). */
typedef struct RunCount {
    uint64_t instructions, l1_misses, ll_misses;
} RunCount;

/* Cycles by KCachegrind's estimate: instructions + 10 misses of the first level + 100 of the last.
 * https://kcachegrind.github.io/html/Documentation.html, "Cycle Estimation". */
uint64_t run_count_cycles(const RunCount *count);

/* Why nothing can be counted here and what to do, or NULL. */
const char *session_cannot_count(void);

/* Host labs: calls slot's entry point in processes of their own and counts what the call took in
 * all, the tensors' way into the process and out of it included, and nothing of the start.
 * Everything else as session_call. */
void session_count(Session *session, int slot, const float *const *tensor, float *output,
                   Observed *observed, RunOutcome *outcome, RunCount *count);

#endif
