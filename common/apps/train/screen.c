#include "common/apps/train/screen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 24, SPARKS = 24 };

double screen_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static long steps_done(const TrainingState *state, int step)
{
    return (long)state->done * state->plan->steps + step;
}

void screen_open(Screen *screen, const TrainingState *state)
{
    *screen = (Screen){.live = isatty(STDOUT_FILENO), .started = screen_clock()};
    screen->begun = steps_done(state, 0);
}

/* The last losses as a sparkline on a logarithmic scale. */
static void print_sparks(const Screen *screen)
{
    static const char *const BLOCK[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < screen->losses; i++) {
        low = fmin(low, log(screen->loss[i]));
        high = fmax(high, log(screen->loss[i]));
    }
    for (int i = 0; i < screen->losses; i++) {
        double part = high > low ? (log(screen->loss[i]) - low) / (high - low) : 0;
        fputs(BLOCK[(int)fmin(7, part * 8)], stdout);
    }
}

static void spark_add(Screen *screen, double loss)
{
    if (screen->losses == SPARKS)
        memmove(screen->loss, screen->loss + 1, --screen->losses * sizeof *screen->loss);
    screen->loss[screen->losses++] = fmax(loss, 1e-12);
}

static void print_time(double seconds)
{
    if (seconds < 120)
        printf("%.0f s", seconds);
    else
        printf("%.0f min", seconds / 60);
}

void screen_steps(Screen *screen, const TrainingState *state, int step, double loss)
{
    const Plan *plan = state->plan;
    long done = steps_done(state, step), all = (long)plan->epochs * plan->steps;
    int filled = (int)(BAR * done / all);
    double each = (screen_clock() - screen->started) / (double)(done - screen->begun);
    if (!screen->live) return;
    printf("\r  epoch %d of %d [", state->done + 1, plan->epochs);
    for (int i = 0; i < BAR; i++)
        putchar(i < filled ? '#' : '.');
    printf("] loss %-7.4f ", loss);
    print_sparks(screen);
    fputs("  ", stdout);
    print_time(each * (double)(all - done));
    fputs(" left \033[K", stdout);
    fflush(stdout);
}

void screen_epoch(Screen *screen, const TrainingState *state)
{
    const EpochResult *epoch = &state->epoch[state->done - 1];
    spark_add(screen, epoch->loss);
    printf("%s  epoch %*d  loss %.4f  test %.2f %%  ", screen->live ? "\r" : "",
           state->plan->epochs > 9 ? 2 : 1, state->done, epoch->loss, 100 * epoch->right);
    print_sparks(screen);
    fputs("  ", stdout);
    print_time(epoch->seconds);
    puts(screen->live ? "\033[K" : "");
    fflush(stdout);
}

static int count_of(const TrainingState *state, int shown, int read)
{
    int count = 0;
    for (int i = 0; i < state->plan->test.count; i++)
        count += state->plan->test.label[i] == shown && state->read[i] == read;
    return count;
}

void screen_end(const TrainingState *state)
{
    int classes = state->plan->step.layer[TRAIN_OUT].K, misread = 0;
    printf("\n"
           "  digit, and read as:\n"
           "      ");
    for (int read = 0; read < classes; read++)
        printf("%6d", read);
    putchar('\n');
    for (int shown = 0; shown < classes; shown++) {
        printf("  %4d", shown);
        for (int read = 0; read < classes; read++) {
            int count = count_of(state, shown, read);
            if (count)
                printf("%6d", count);
            else
                fputs("     .", stdout);
            misread += shown == read ? 0 : count;
        }
        putchar('\n');
    }
    printf("  %.2f %% of %d test images classified correctly, %d misclassified\n",
           100 * training_state_accuracy(state), state->plan->test.count, misread);
}
