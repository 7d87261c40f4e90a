/* attach.c - linked into a program: `main` starts with a prompt, and each simulated GPU that the
 * program opens is debugged.
 *
 * `make debug` links it with --wrap=main.  `simnvcc -G` links it without, and the debugger then
 * starts in a constructor if SIMCUDA_DEBUG is set.  Nothing here is part of a graded run: the
 * program is its user's own. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cuda/runtime/runtime.h"
#include "common/cuda/sim/sim_device.h"
#include "common/debugger/ui/prompt.h"

Session session_of_process;

/* Defined in programs that simnvcc -G links. */
extern const int debugger_is_optional __attribute__((weak));

static int is_wanted(void)
{
    return !&debugger_is_optional || getenv("SIMCUDA_DEBUG");
}

static void ui_stopped(Debugger *debugger, const Stop *stop)
{
    Session *s = (Session *)debugger;
    s->progress = RUNNING;
    s->stopped(s, stop);
}

static void gpu_opened(struct SimtGpu *gpu)
{
    /* To measure what the debugger costs: the same execution without it. */
    if (getenv("DEBUG_DETACHED")) {
        gpu->options.threads = 1, gpu->options.count = 0, gpu->count = 0;
        return;
    }
    debugger_attach(&session_of_process.debugger, gpu);
}

static void expected_keep(uint64_t address, const double *expected, const double *tolerance,
                          size_t count)
{
    Session *s = &session_of_process;
    free(s->expected), free(s->tolerance);
    s->expected = malloc(count * sizeof *expected + 1);
    s->tolerance = malloc(count * sizeof *tolerance + 1);
    s->expecteds = s->expected && s->tolerance ? count : 0;
    s->expected_address = address;
    if (!s->expecteds) return;
    memcpy(s->expected, expected, count * sizeof *expected);
    memcpy(s->tolerance, tolerance, count * sizeof *tolerance);
}

static void interrupted(int number)
{
    (void)number;
    Session *s = &session_of_process;
    if (!s->debugger.launch || s->debugger.is_stopped) {
        if (s->progress == RUNNING && !s->debugger.is_stopped) _Exit(130);
        return;
    }
    debugger_interrupt(&s->debugger);
}

static void image_add(void *context, const void *image, size_t bytes)
{
    Error error;
    Session *s = context;
    if (debugger_image(&s->debugger, image, bytes, &error) != 0)
        fprintf(stderr, "debug: %s\n", error.text);
}

/* Before the constructors that open a device. */
__attribute__((constructor(101))) static void session_open(void)
{
    Session *s = &session_of_process;
    if (!is_wanted()) return;
    s->ui = (DebugUi){.stopped = ui_stopped, .say = log_point_say};
    debugger_open(&s->debugger, &s->ui);
    sim_device_debugger = gpu_opened, sim_device_expected = expected_keep;
}

static void ended(int status, void *unused)
{
    Session *s = &session_of_process;
    (void)unused;
    fflush(NULL);
    if (s->progress != RUNNING || getpid() != (pid_t)(intptr_t)s->ui.context) return;
    s->progress = ENDED, s->exit_status = status;
    s->debugger.warp = NULL, s->debugger.gpu = NULL;
    if (dap_is_wanted()) {
        dap_ended(s, status);
        return;
    }
    if (status)
        say(s, "[Program exited with code %02o]\n", (unsigned)status);
    else
        say(s, "[Program exited normally]\n");
    prompt_run(s);
}

static void session_start(char **argv)
{
    Session *s = &session_of_process;
    struct sigaction action = {.sa_handler = interrupted, .sa_flags = SA_RESTART};
    s->context = argv;
    s->ui.context = (void *)(intptr_t)getpid();
    runtime_images(image_add, s);
    on_exit(ended, NULL);
    if (dap_is_wanted()) {
        dap_open(s);
        dap_before_run(s);
    } else {
        prompt_open(s);
        sigaction(SIGINT, &action, NULL);
        if (s->progress == BEFORE_RUN) {
            if (!getenv("DEBUG_QUIET"))
                say(s, "Kernels are debugged on the simulated GPU; the program runs with your "
                       "rights, outside of any sandbox.\n"
                       "Set breakpoints, then `run`.  `help` lists the commands.\n");
            prompt_run(s);
        }
    }
    s->progress = RUNNING;
}

/* Programs that simnvcc -G links: after the constructors that register their kernels, because the
 * library is the last on the linker's command line. */
__attribute__((constructor)) static void optional_start(int argc, char **argv)
{
    (void)argc;
    if (&debugger_is_optional && is_wanted()) session_start(argv);
}

int __real_main(int argc, char **argv, char **environment);
int __wrap_main(int argc, char **argv, char **environment);

int __wrap_main(int argc, char **argv, char **environment)
{
    session_start(argv);
    return __real_main(argc, argv, environment);
}
