/* load - load generator for a server, at a fixed rate or as fast as it answers; reports latencies
 * and the outcome of every request: make load. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/apps/serve/load.h"
#include "common/apps/serve/settings.h"
#include "common/apps/serve/status.h"

enum { THREADS_MOST = 64 };

typedef struct Wish {
    const char *path, *out, *only;
    double rate, seconds, clients, each, threads, limit, seed, check;
} Wish;

typedef struct Part {
    LoadOptions options;
    Answers *answers;
    LoadCounts counts;
    Latency latency;
    Error error;
    int status;
    pthread_t thread;
} Part;

static void *part_run(void *argument)
{
    Part *part = argument;
    part->status =
        load_run(&part->options, part->answers, &part->counts, &part->latency, &part->error);
    return NULL;
}

/* Each thread has its share of the clients and of the rate. */
static int run_parts(const Wish *wish, const char *model, Answers *answers, Part *all, Error *error)
{
    static Part part[THREADS_MOST];
    int threads = (int)wish->threads, status = 0;
    uint64_t begin = clock_now() + 10000000;
    uint64_t limit =
        wish->limit > 0 ? from_milliseconds(wish->limit) : status_number(model, "limit");
    for (int i = 0; i < threads; i++) {
        part[i].answers = answers;
        part[i].options = (LoadOptions){.path = wish->path,
                                        .rate = wish->rate / threads,
                                        .clients = (int)wish->clients / threads,
                                        .each = (int)wish->each,
                                        .begin = begin,
                                        .end = begin + from_milliseconds(1e3 * wish->seconds),
                                        .limit = limit,
                                        .seed = (uint64_t)wish->seed + (uint64_t)i,
                                        .check = wish->check > 0};
        if (latency_open(&part[i].latency, error)) return -1;
        if (pthread_create(&part[i].thread, NULL, part_run, &part[i]))
            return error_set(error, "no thread %d", i);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(part[i].thread, NULL);
        if (part[i].status && !status) status = error_set(error, "%s", part[i].error.text);
        const uint64_t *from = (const uint64_t *)&part[i].counts;
        for (size_t k = 0; k < sizeof(LoadCounts) / sizeof *from; k++)
            ((uint64_t *)&all->counts)[k] += from[k];
        latency_add(&all->latency, &part[i].latency);
        latency_close(&part[i].latency);
    }
    return status;
}

static void print_counts(const Wish *wish, const LoadCounts *counts, const Latency *latency)
{
    printf("  sent %" PRIu64, counts->sent);
    for (int i = 0; i < FRAME_STATUSES; i++)
        if (counts->status[i] || i == FRAME_ANSWERED)
            printf(", %s %" PRIu64, frame_status_name(i), counts->status[i]);
    printf("; lost %" PRIu64 ", unanswered %" PRIu64 "\n", counts->lost, counts->unanswered);
    if (counts->unsent)
        printf("  not sent, because the socket was full: %" PRIu64 "\n", counts->unsent);
    printf("  %.0f answers per second; after their deadline: %" PRIu64 "\n",
           (double)counts->status[FRAME_ANSWERED] / wish->seconds, counts->after);
    printf(
        "  latency from the due time, ms: p50 %.3f, p90 %.3f, p99 %.3f, p99.9 %.3f, longest %.3f\n",
        latency_quantile(latency, 0.5), latency_quantile(latency, 0.9),
        latency_quantile(latency, 0.99), latency_quantile(latency, 0.999),
        (double)latency->longest / 1e6);
}

/* A line for scripts. */
static int write_line(const Wish *wish, const LoadCounts *counts, const Latency *latency,
                      Error *error)
{
    FILE *stream = *wish->out ? fopen(wish->out, "a") : NULL;
    if (!*wish->out) return 0;
    if (!stream) return error_set(error, "%s: %m", wish->out);
    if (!ftell(stream)) {
        fputs("rate\tseconds\tsent", stream);
        for (int i = 0; i < FRAME_STATUSES; i++)
            fprintf(stream, "\t%s", frame_status_name(i));
        fputs("\tlost\tunanswered\tunsent\tafter\tp50\tp90\tp99\tp99.9\tlongest\n", stream);
    }
    fprintf(stream, "%.0f\t%g\t%" PRIu64, wish->rate, wish->seconds, counts->sent);
    for (int i = 0; i < FRAME_STATUSES; i++)
        fprintf(stream, "\t%" PRIu64, counts->status[i]);
    fprintf(stream, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, counts->lost,
            counts->unanswered, counts->unsent, counts->after);
    fprintf(stream, "\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\n", latency_quantile(latency, 0.5),
            latency_quantile(latency, 0.9), latency_quantile(latency, 0.99),
            latency_quantile(latency, 0.999), (double)latency->longest / 1e6);
    return fclose(stream) ? error_set(error, "%s: %m", wish->out) : 0;
}

/* ---- check of the counts ------------------------------------------------------------------ */

/* Increase of an outcome's counter at the server between two readings. */
static uint64_t counted(const char *before, const char *after, const char *outcome)
{
    char name[80];
    snprintf(name, sizeof name, "serve_outcomes_total{outcome=\"%s\"}", outcome);
    return status_number(after, name) - status_number(before, name);
}

/* Checks that the server's own sum is correct, and that its counts equal the client's.  With other
 * clients it counts more, which proves nothing. */
static int accounts(const char *before, const char *after, const LoadCounts *counts, Error *error)
{
    uint64_t requests = status_number(after, "serve_requests_total"), sum = 0;
    for (int i = 0; i < FRAME_STATUSES; i++)
        sum += counted("", after, frame_status_name(i));
    sum += counted("", after, "dropped") + status_number(after, "serve_waiting") +
           status_number(after, "serve_running");
    if (sum != requests)
        return error_set(error, "the server read %" PRIu64 " requests and accounts for %" PRIu64,
                         requests, sum);
    uint64_t here = requests - status_number(before, "serve_requests_total");
    if (here > counts->sent) {
        printf("  the server also served other clients: nothing to compare\n");
        return 0;
    }
    int same = here == counts->sent;
    for (int i = 0; i < FRAME_STATUSES; i++)
        same &= counted(before, after, frame_status_name(i)) == counts->status[i];
    if (!same)
        return error_set(
            error, "the server's counts of requests or outcomes differ from those received here");
    printf("  the server counted the same: %" PRIu64 " requests, each with its outcome\n", here);
    return 0;
}

static int judge(const Wish *wish, const Answers *answers, Error *error)
{
    int judged;
    if (wish->check <= 0) return 0;
    if (answers_judge(answers, &judged, error)) return -1;
    printf("  %d different answers to %d inputs, all within the oracle's bound\n", judged,
           ANSWERS_INPUTS);
    return 0;
}

static int complete(const LoadCounts *counts, Error *error)
{
    if (counts->strange)
        return error_set(error, "%" PRIu64 " answers to nothing that was asked", counts->strange);
    if (!counts->lost && !counts->unanswered) return 0;
    return error_set(
        error, "%" PRIu64 " requests were lost with their connection, %" PRIu64 " not answered",
        counts->lost, counts->unanswered);
}

static int load(const Wish *wish, Error *error)
{
    static Answers answers;
    Part all = {0};
    char *before, *after = NULL;
    char *model = status_query(wish->path, FRAME_MODEL, error);
    if (!model || !(before = status_query(wish->path, FRAME_METRICS, error)) ||
        answers_open(model, (uint64_t)wish->seed + 1000, &answers, error) ||
        latency_open(&all.latency, error))
        return -2;
    if (wish->rate > 0)
        printf("load: %.0f requests per second", wish->rate);
    else
        printf("load: %.0f requests at any time", wish->clients * wish->each);
    printf(" by %.0f clients for %g s\n", wish->clients, wish->seconds);
    fflush(stdout);
    if (run_parts(wish, model, &answers, &all, error)) return -2;
    print_counts(wish, &all.counts, &all.latency);
    int status = write_line(wish, &all.counts, &all.latency, error);
    if (!status) status = complete(&all.counts, error);
    if (!status) status = (after = status_query(wish->path, FRAME_METRICS, error)) ? 0 : -1;
    if (!status) status = accounts(before, after, &all.counts, error);
    if (!status) status = judge(wish, &answers, error);
    latency_close(&all.latency);
    answers_close(&answers);
    free(model);
    free(before);
    free(after);
    return status;
}

/* Prints the server's texts, without load. */
static int show(const Wish *wish, Error *error)
{
    char *text =
        status_query(wish->path, strcmp(wish->only, "model") ? FRAME_METRICS : FRAME_MODEL, error);
    if (!text) return -2;
    fputs(text, stdout);
    free(text);
    return 0;
}

static void allow_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
    Wish wish = {.path = "",
                 .out = "",
                 .only = "",
                 .seconds = 5,
                 .clients = 16,
                 .each = 1,
                 .threads = 1,
                 .seed = 1};
    const Setting table[] = {
        {.name = "SOCKET", .text = &wish.path},
        {.name = "OUT", .text = &wish.out},
        {.name = "SHOW", .text = &wish.only},
        {"RATE", NULL, &wish.rate, 0, 1e8, "requests a second", 0},
        {"SECONDS", NULL, &wish.seconds, 0.01, 1e6, "seconds", 0},
        {"CLIENTS", NULL, &wish.clients, 1, 60000, "a whole number", 1},
        {"EACH", NULL, &wish.each, 1, 65536, "a whole number", 1},
        {"THREADS", NULL, &wish.threads, 1, THREADS_MOST, "a whole number", 1},
        {"LIMIT", NULL, &wish.limit, 0, 1e6, "milliseconds", 0},
        {"SEED", NULL, &wish.seed, 0, 1e15, "a whole number", 1},
        {"CHECK", NULL, &wish.check, 0, 1, "0 or 1", 1},
        {0},
    };
    Error error = {""};
    int status = settings_read(argc, argv, table, &error);
    if (status) status = -2;
    if (wish.clients < wish.threads) wish.threads = wish.clients;
    signal(SIGPIPE, SIG_IGN);
    allow_descriptors();
    if (!status) status = *wish.only ? show(&wish, &error) : load(&wish, &error);
    if (status) fprintf(stderr, "load: %s\n", error.text);
    return -status;
}
