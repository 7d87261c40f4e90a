/* session.h - grade's view of the other two processes: one `device`, a sandboxed `runner` per built
 * submission.
 *
 * Module: both ends of the protocol between grade, device and runner.
 * Callers: judging, and the programs device and runner.
 * May use: build, sandbox, tensors, operation, cuda.
 *
 *   grade  --control socket-->  device  <--one socket per runner-->  runner, sandboxed:
 *                                                                  submission + drop-in runtime
 *
 * grade starts all of them.  device owns memory, engine, recordings and clocks; runner owns
 * nothing.  Every wait ends by a limit of CPU time or of idle waiting, not of wall-clock time
 * (session_limit.c).  Every outcome (exit, crash, spin, sleep, fork, flood) becomes a RunStatus
 * and a sentence. */
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
    DeviceEngine engine;          /* never ENGINE_AUTO */
    const char *machine;          /* sim: "h200" ...; gpu: ignored */
    int sim_threads;              /* 0: one per core */
    int checks;                   /* Boolean, sim: initcheck on */
    int warp_sync;                /* Boolean, sim: a missing __syncwarp() is a finding */
    double call_seconds;          /* limit of one call's host code: seconds of CPU time, and of
                                   * waiting; 0: 10; a lower value also reduces the kernels'
                                   * instruction limit to a quarter */
    uint64_t runner_memory_bytes; /* 0: 2 GiB */
    const char *gpus_directory;   /* folder of the machine descriptions; NULL:
                                   * common/simulator/gpus */
    const char *device_program;   /* NULL: `device` next to this program, or in ../../../bin */
} SessionOptions;

typedef struct RunOutcome {
    RunStatus status;
    char message[1536]; /* one or two lines for the student; "" when RUN_OK */
    DeviceCost cost;    /* cost of the call; host labs: seconds by the trusted side's clock */
    double cpu_seconds; /* host labs: CPU time of the runner during the call, from the kernel's
                      * accounting */
    RunSpent spent;
    uint32_t habits; /* DeviceHabit bits, as reported by the submission's process */
    int initcheck_findings;
    char finding[1024]; /* the first finding, also when RUN_OK; "" if none */
} RunOutcome;

int session_open(const SessionOptions *options, Session **session, Error *error);
/* Opens another session with the same options and processes of its own. */
int session_open_parallel(const Session *session, Session **beside, Error *error);
void session_close(Session *session); /* kills and reaps everything */
void session_properties(const Session *session, DeviceProperties *properties);

/* Installs the built program as runner `slot` (0 the submission, 1 the baseline, 2 the reference).
 * The process starts with the next call and restarts for every problem, so that no state passes
 * from one problem to the next.  In host labs only one runner is alive at a time, so that none
 * slows the others. */
int session_start_runner(Session *session, int slot, const Build *build, Error *error);

/* The start of the text that slot 0's kernels printed, without control characters; "": nothing. */
const char *session_printed(Session *session);

/* Sets the current problem, even if it is the same as before: runners restart, a simulated GPU is
 * reset, and the problem's tensors are allocated between guard bands on the device (device
 * labs). */
int session_set_problem(Session *session, const Operation *operation, const Problem *problem,
                        int host, Error *error);

/* Sets another problem of the same operation for the same runners, which keep their state: a test
 * for state that they must not keep. */
int session_next_problem(Session *session, const Problem *problem, Error *error);

/* After the first RUN_LIMIT of slot 0, its later calls have lower limits (session_limit.c), because
 * endless code exceeds a limit in every case.
 *
 * Uploads fresh inputs (NULL: keeps the present ones), and poisons outputs and guard bands.  Calls
 * the entry point once in runner `slot` while recording, and reads the output back (tensor_count
 * floats, caller's memory; NULL: not needed).  observed->output points at `output`.  A dead runner
 * is restarted by the next call. */
void session_call(Session *session, int slot, const float *const *tensor, float *output,
                  Observed *observed, RunOutcome *outcome);

/* The same, but a simulated GPU counts nothing and computes no cycles: for calls whose cost is
 * taken from a replay or not needed. */
void session_search(Session *session, int slot, const float *const *tensor, float *output,
                    Observed *observed, RunOutcome *outcome);

/* The same for the outputs only, or for a later replay: without race detection, in a third of a
 * call's time. */
void session_probe(Session *session, int slot, const float *const *tensor, float *output,
                   Observed *observed, RunOutcome *outcome);

/* Device labs: replays the recording of the last session_call of `slot` `repeats` times in one
 * timed window.  Uses the given inputs (NULL: keeps the present ones), poisons outputs first and
 * reads them back afterwards.  On a GPU the L2 is flushed between repeats, outside the measured
 * time. outcome->cost.seconds is the time of one repeat.  `repeats` 0: once, for the outputs only,
 * as session_probe.  A replay has no streams and reports no findings; session_call does. */
void session_replay(Session *session, int slot, int repeats, const float *const *tensor,
                    float *output, Observed *observed, RunOutcome *outcome);

/* Counts of one call by valgrind's cachegrind, for a described machine and not the one it ran on
 * (session_count.c). */
typedef struct RunCount {
    uint64_t instructions, l1_misses, ll_misses;
} RunCount;

/* Cycles by KCachegrind's estimate: instructions + 10 misses of the first level + 100 of the last.
 * https://kcachegrind.github.io/html/Documentation.html, "Cycle Estimation". */
uint64_t run_count_cycles(const RunCount *count);

/* The reason why nothing can be counted here and the remedy, or NULL. */
const char *session_cannot_count(void);

/* Host labs: calls slot's entry point in a process of its own and counts the whole call, including
 * the transfer of the tensors, without the start of the process.  Otherwise as session_call. */
void session_count(Session *session, int slot, const float *const *tensor, float *output,
                   Observed *observed, RunOutcome *outcome, RunCount *count);

#endif
