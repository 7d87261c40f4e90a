/* workbench - the labs on one page in the browser.  Called by the Makefile. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/options/options.h"
#include "autograder/workbench/workbench.h"

static const char USAGE[] =
    "usage: workbench [--root DIR] [--build DIR] [--port N]\n"
    "  serves the labs to a browser on this machine and prints the address; Ctrl-C ends it\n";

static int options_read(int argc, char **argv, Workbench *bench, Error *error)
{
    const char *port = NULL;
    bench->root = ".", bench->build = "build";
    const Option table[] = {
        {"root", OPTION_TEXT, &bench->root},
        {"build", OPTION_TEXT, &bench->build},
        {"port", OPTION_TEXT, &port},
        {"help", OPTION_HELP, (void *)USAGE},
        {0},
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
    if (catalog_open(bench->root, &bench->catalog, error)) return -1;
    bench->jobs = job_queue_open();
    Server *server = bench->jobs ? server_start(bench, error) : NULL;
    if (server) {
        address_print(bench);
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
