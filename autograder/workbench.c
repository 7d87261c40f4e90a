/* workbench - the labs on one page in the browser.  Called by the Makefile. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autograder/options/options.h"
#include "autograder/text/files.h"
#include "autograder/text/text.h"
#include "autograder/workbench/workbench.h"

static const char USAGE[] =
    "usage: workbench [--root DIR] [--build DIR] [--port N] [--open]\n"
    "  serves the labs to a browser on this machine and prints the address; Ctrl-C ends it\n"
    "  --open: also starts the desktop's browser\n";

static int options_read(int argc, char **argv, Workbench *bench, Error *error)
{
    const char *port = NULL;
    bench->root = ".", bench->build = "build";
    const Option table[] = {
        {"root", OPTION_TEXT, &bench->root},  {"build", OPTION_TEXT, &bench->build},
        {"port", OPTION_TEXT, &port},         {"open", OPTION_FLAG, &bench->opens},
        {"help", OPTION_HELP, (void *)USAGE}, {0},
    };
    if (options_parse(argc, argv, table, 0, NULL, error)) return -1;
    if (!port) return 0;
    char *end;
    long number = strtol(port, &end, 10);
    if (*end || end == port || number < 1 || number > 65535)
        return error_set(error, "--port is a number from 1 to 65535, not '%.40s'", port);
    bench->port = (int)number;
    return 0;
}

static void address_print(const Workbench *bench)
{
    printf("  The workbench is at\n\n    http://127.0.0.1:%d/#%s\n\n", bench->port, bench->token);
    if (getenv("SSH_CONNECTION"))
        printf(
            "  From the machine that you sit at, first run\n\n    ssh -L %d:127.0.0.1:%d HOST\n\n",
            bench->port, bench->port);
    printf("  The part after # is a key: whoever has it can run programs as you. Ctrl-C ends the\n"
           "  server.\n");
    fflush(stdout);
}

/* Writes a page that leads to the address, readable for this user only, and opens it with the
 * desktop's browser.  The address itself would be in the list of processes, which everybody can
 * read. */
static void browser_open(const Workbench *bench)
{
    char path[1300], page[400], *full;
    if (getenv("SSH_CONNECTION") || (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))) return;
    text_set(path, sizeof path, "%s/workbench", bench->build);
    if (directory_make(path)) return;
    text_add(path, sizeof path, "/open.html");
    text_set(page, sizeof page,
             "<!DOCTYPE html><meta charset=\"utf-8\"><title>Workbench</title>"
             "<meta http-equiv=\"refresh\" content=\"0;url=http://127.0.0.1:%d/#%s\">\n",
             bench->port, bench->token);
    mode_t mask = umask(077);
    unlink(path);
    int fails = file_write(path, page, NULL);
    umask(mask);
    if (fails || (full = realpath(path, NULL)) == NULL) return;
    if (fork() == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGPIPE, SIG_DFL);
        setsid();
        int null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++)
            dup2(null, fd);
        execlp("xdg-open", "xdg-open", full, (char *)NULL);
        _exit(127);
    }
    free(full);
}

/* Blocks the signals before threads start, so that they reach this one. */
static void signals_block(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static int serve(Workbench *bench, Error *error)
{
    sigset_t ends;
    int received;
    signals_block(&ends);
    setenv("PROGRESS", "1", 1); /* the jobs print a line every second (ticker.h) */
    if (catalog_open(bench->root, &bench->catalog, error)) return -1;
    bench->jobs = job_queue_open(JOB_UNATTENDED);
    Server *server = bench->jobs ? server_start(bench, error) : NULL;
    if (server) {
        address_print(bench);
        if (bench->opens) browser_open(bench);
        sigwait(&ends, &received);
        server_stop(server);
    } else if (!bench->jobs) {
        error_set(error, "out of memory");
    }
    job_queue_close(bench->jobs);
    catalog_close(&bench->catalog);
    return server ? 0 : -1;
}

int main(int argc, char **argv)
{
    Workbench bench = {0};
    Error error = {""};
    if (options_read(argc, argv, &bench, &error) || serve(&bench, &error)) {
        fprintf(stderr, "workbench: %s\n", error.text);
        return 2;
    }
    return 0;
}
