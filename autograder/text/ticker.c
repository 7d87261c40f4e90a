#include "autograder/text/ticker.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "autograder/text/files.h"
#include "autograder/text/screen.h"
#include "autograder/text/text.h"

#define CLEAR "\r\033[K"
enum { SCRIPT_SECONDS = 10 }; /* between two lines of a script in a pipe */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    pthread_t thread;
    int running, shown;
    double begun, counted; /* seconds: start time, and time at which the finished share was first
                            * known */
    double done;
    char what[160];
    char file[700];   /* stores the duration; "" none */
    double expected;  /* seconds; 0: unknown */
    double interval;  /* seconds between two lines in a file or a pipe; negative: a terminal */
    double printed;   /* seconds: time of the latest line in a file or a pipe */
    char latest[160]; /* the work of that line */
} ticker = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Whether a line is due: on a terminal always, after the first second; in a pipe if the work has
 * changed since the latest line. */
static int is_due(double time)
{
    if (!*ticker.what) return 0;
    if (ticker.interval < 0) return time - ticker.begun > 1;
    return time - ticker.printed >= ticker.interval && strcmp(ticker.what, ticker.latest) != 0;
}

static void draw(void)
{
    char line[240];
    double time = now(), spent = time - ticker.counted;
    text_set(line, sizeof line, "  %s, %.0f s", ticker.what, time - ticker.begun);
    if (ticker.done > 0.02 && ticker.done < 1)
        text_add(line, sizeof line, ", about %.0f s left",
                 spent * (1 - ticker.done) / ticker.done + 0.5);
    if (ticker.expected > time - ticker.begun)
        text_add(line, sizeof line, ", about %.0f s left",
                 ticker.begun + ticker.expected - time + 0.5);
    if (ticker.interval < 0) {
        fprintf(stderr, CLEAR "%.*s", (int)screen_columns() - 1, line);
        ticker.shown = 1;
    } else {
        fprintf(stderr, "%s\n", line);
        ticker.printed = time;
        text_set(ticker.latest, sizeof ticker.latest, "%s", ticker.what);
    }
    fflush(stderr);
}

static void *tick(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&ticker.lock);
    while (ticker.running) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += 250000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&ticker.ended, &ticker.lock, &until);
        if (ticker.running && is_due(now())) draw();
    }
    pthread_mutex_unlock(&ticker.lock);
    return NULL;
}

/* Seconds between two lines in a pipe: those of PROGRESS, else `otherwise`; negative: none. */
static double line_interval(double otherwise)
{
    const char *progress = getenv("PROGRESS");
    char *end;
    double seconds = progress ? strtod(progress, &end) : 0;
    return progress && end != progress && !*end && seconds >= 0 ? seconds : otherwise;
}

/* `interval`: of line_interval, if standard error is no terminal. */
static void begin(double interval)
{
    const char *term = getenv("TERM");
    pthread_condattr_t steady;
    int is_terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    if (ticker.running || (!is_terminal && interval < 0)) return;
    ticker.interval = is_terminal ? -1 : interval;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&ticker.ended, &steady);
    ticker.begun = ticker.counted = ticker.printed = now();
    ticker.done = -1;
    ticker.running = 1;
    if (pthread_create(&ticker.thread, NULL, tick, NULL)) ticker.running = 0;
}

void ticker_begin(void)
{
    begin(line_interval(-1));
}

/* The expected duration is that of the last time. */
static void expect(const char *file)
{
    if (!ticker.running) return;
    char *text = file_text(file, NULL);
    pthread_mutex_lock(&ticker.lock);
    text_set(ticker.file, sizeof ticker.file, "%s", file);
    ticker.expected = text ? strtod(text, NULL) : 0;
    pthread_mutex_unlock(&ticker.lock);
    free(text);
}

void ticker_begin_again(const char *file)
{
    ticker_begin();
    expect(file);
}

/* A result that was already available is no measure of the duration. */
static void remember(double seconds)
{
    char text[40];
    if (seconds < 1) return;
    text_set(text, sizeof text, "%.1f\n", seconds);
    file_write(ticker.file, text, NULL);
}

void ticker_say(double done, const char *format, ...)
{
    va_list arguments;
    pthread_mutex_lock(&ticker.lock);
    if (ticker.running) {
        va_start(arguments, format);
        vsnprintf(ticker.what, sizeof ticker.what, format, arguments);
        va_end(arguments);
        if (ticker.done < 0 && done >= 0) ticker.counted = now();
        ticker.done = done;
    }
    pthread_mutex_unlock(&ticker.lock);
}

void ticker_end(void)
{
    pthread_mutex_lock(&ticker.lock);
    int running = ticker.running;
    ticker.running = 0;
    if (running) pthread_cond_signal(&ticker.ended);
    pthread_mutex_unlock(&ticker.lock);
    if (!running) return;
    pthread_join(ticker.thread, NULL);
    pthread_cond_destroy(&ticker.ended);
    if (ticker.shown) fputs(CLEAR, stderr);
    if (*ticker.file) remember(now() - ticker.begun);
    ticker.shown = 0;
    *ticker.what = *ticker.file = *ticker.latest = 0;
    ticker.expected = 0;
}

void ticker_follow(FILE *lines, const char *what, int all, const char *file)
{
    int done = 0, byte;
    begin(line_interval(SCRIPT_SECONDS));
    if (file) expect(file);
    do {
        ticker_say(file || all < 1 ? -1 : (double)done / all, "%s: %d of %d", what, done, all);
        while ((byte = getc(lines)) != EOF && byte != '\n')
            ;
        done++;
    } while (byte != EOF);
    ticker_end();
}

void ticker_abandon(void)
{
    ssize_t written = ticker.shown ? write(STDERR_FILENO, CLEAR, sizeof CLEAR - 1) : 0;
    (void)written;
}
