#include "common/apps/serve/counts.h"

#include <dirent.h>
#include <inttypes.h>
#include <unistd.h>

void counts_batch(Counts *counts, int size)
{
    int at = 0;
    while (at < COUNT_SIZES - 1 && 1 << at < size)
        at++;
    counts->size[at]++;
    counts->sizes += (uint64_t)size;
    counts->batches++;
}

void counts_answer(Counts *counts, uint64_t nanoseconds)
{
    int at = 0;
    while (at < COUNT_TIMES - 1 && 100000ull << at < nanoseconds)
        at++;
    counts->seconds[at]++;
    counts->nanoseconds += nanoseconds;
}

static int running_with_client(const Queue *queue)
{
    int count = 0;
    for (int i = 0; i < queue->running; i++)
        count += queue->ticket[queue->batch[i]].client != NULL;
    return count;
}

int counts_pending(const Queue *queue)
{
    return queue->waiting + running_with_client(queue);
}

static void head(FILE *stream, const char *name, const char *type, const char *help)
{
    fprintf(stream, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void one(FILE *stream, const char *name, const char *type, const char *help, uint64_t value)
{
    head(stream, name, type, help);
    fprintf(stream, "%s %" PRIu64 "\n", name, value);
}

static void write_outcomes(FILE *stream, const Counts *counts)
{
    head(stream, "serve_outcomes_total", "counter", "Requests by their outcome.");
    for (int i = 0; i < OUTCOMES; i++)
        fprintf(stream, "serve_outcomes_total{outcome=\"%s\"} %" PRIu64 "\n",
                i == OUTCOME_DROPPED ? "dropped" : frame_status_name(i), counts->outcome[i]);
}

/* The last bucket is +Inf, for larger values. */
static void write_histogram(FILE *stream, const char *name, const uint64_t *bucket, int buckets,
                            double first, double sum)
{
    uint64_t below = 0;
    for (int i = 0; i < buckets - 1; i++) {
        below += bucket[i];
        fprintf(stream, "%s_bucket{le=\"%.6g\"} %" PRIu64 "\n", name, first * (1 << i), below);
    }
    below += bucket[buckets - 1];
    fprintf(stream, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum %.9g\n%s_count %" PRIu64 "\n", name,
            below, name, sum, name, below);
}

static void write_cost(FILE *stream, const Batcher *batcher, uint64_t now)
{
    head(stream, "serve_batch_estimate_seconds", "gauge",
         "Estimated time of a batch of that size.");
    for (int size = 1; size < 2 * batcher->largest; size *= 2) {
        int most = size < batcher->largest ? size : batcher->largest;
        fprintf(stream, "serve_batch_estimate_seconds{size=\"%d\"} %.9g\n", most,
                (double)cost_of(&batcher->cost, most, now) / 1e9);
    }
}

/* The two process metrics of every Prometheus client. */
static void write_process(FILE *stream)
{
    unsigned long pages = 0, resident = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (statm && fscanf(statm, "%lu %lu", &pages, &resident) != 2) resident = 0;
    if (statm) fclose(statm);
    DIR *directory = opendir("/proc/self/fd");
    uint64_t descriptors = 0;
    while (directory && readdir(directory))
        descriptors++;
    if (directory) closedir(directory);
    one(stream, "process_resident_memory_bytes", "gauge", "Resident memory.",
        resident * (uint64_t)sysconf(_SC_PAGESIZE));
    /* Without ".", ".." and the folder's own descriptor. */
    one(stream, "process_open_fds", "gauge", "Open descriptors.",
        descriptors > 3 ? descriptors - 3 : 0);
}

void counts_write(FILE *stream, const Counts *counts, const Batcher *batcher, uint64_t now)
{
    const Queue *queue = &batcher->queue;
    one(stream, "serve_requests_total", "counter", "Requests that were read.", counts->requests);
    write_outcomes(stream, counts);
    one(stream, "serve_waiting", "gauge", "Requests in the queue.", (uint64_t)queue->waiting);
    one(stream, "serve_running", "gauge", "Requests in the running batch.",
        (uint64_t)running_with_client(queue));
    one(stream, "serve_queue_places", "gauge", "Requests that the queue holds.",
        (uint64_t)queue->most);
    one(stream, "serve_connections", "gauge", "Clients connected.", (uint64_t)counts->connected);
    one(stream, "serve_connections_total", "counter", "Clients ever connected.",
        counts->connections);
    one(stream, "serve_connections_refused_total", "counter", "Clients that were too many.",
        counts->rejected_connections);
    head(stream, "serve_batch_requests", "histogram", "Requests of a batch.");
    write_histogram(stream, "serve_batch_requests", counts->size, COUNT_SIZES, 1,
                    (double)counts->sizes);
    head(stream, "serve_seconds", "histogram", "From reading a request to its answer.");
    write_histogram(stream, "serve_seconds", counts->seconds, COUNT_TIMES, 100e-6,
                    (double)counts->nanoseconds / 1e9);
    write_cost(stream, batcher, now);
    write_process(stream);
}
