/* summary_plot.c - distributions of a class's marks as a figure, by gnuplot. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "autograder/class/summary.h"
#include "autograder/class/tool.h"

/* One small histogram per lab, three in a row.  gnuplot runs in the folder, so that no path of the
 * user's is in a script. */
static void write_script(FILE *script, const Summary *summary, const char *terminal,
                         const char *name, int rows)
{
    fprintf(script,
            "set terminal %s size 960,%d\nset output '%s'\nset multiplot layout %d,3\n"
            "set style fill solid 0.7\nset boxwidth 0.9\nunset key\nset yrange [0:*]\n"
            "set xrange [-1:11]\nset xtics ('0' 0, '50' 5, '100' 10)\nset ytics nomirror\n"
            "set xlabel 'per cent of points'\n",
            terminal, 40 + 220 * rows, name, rows);
    for (int i = 0; i < summary->labs; i++) {
        const SummaryLab *lab = &summary->lab[i];
        if (!lab->graded) continue;
        size_t most = 0;
        fprintf(script, "$bins << END\n");
        for (int bin = 0; bin < SUMMARY_BINS; bin++) {
            fprintf(script, "%d %zu\n", bin, lab->bin[bin]);
            if (lab->bin[bin] > most) most = lab->bin[bin];
        }
        /* Integer tick marks, because students are counted. */
        fprintf(script, "END\nset ytics %s\nset title '%s: %zu student%s'\n",
                most <= 5 ? "1" : "autofreq", lab->name, lab->graded, lab->graded == 1 ? "" : "s");
        fprintf(script, "plot $bins with boxes lc rgb '#4477aa'\n");
    }
    fprintf(script, "unset multiplot\nunset output\n");
}

static int run_gnuplot(const char *folder, const char *script, Error *error)
{
    const char *const word[] = {"gnuplot", script, NULL};
    int status = tool_run(folder, word, NULL, NULL, error);
    if (status == TOOL_MISSING)
        return error_set(error, "no distribution.svg: there is no gnuplot; "
                                "sudo apt-get install gnuplot-nox");
    if (status > 0) error_set(error, "no distribution.svg: gnuplot fails on %s", script);
    return status ? -1 : 0;
}

int summary_plot(const char *folder, const Summary *summary, Error *error)
{
    static const char SCRIPT[] = "distribution.gnuplot";
    char path[4200];
    int labs = 0;
    for (int i = 0; i < summary->labs; i++)
        labs += summary->lab[i].graded > 0;
    if (!labs) return error_set(error, "no distribution.svg: nothing is graded");
    snprintf(path, sizeof path, "%.4000s/%s", folder, SCRIPT);
    FILE *script = fopen(path, "we");
    if (!script) return error_set(error, "%.300s: %s", path, strerror(errno));
    int rows = (labs + 2) / 3;
    write_script(script, summary, "svg", "distribution.svg", rows);
    write_script(script, summary, "pngcairo", "distribution.png", rows);
    if (fclose(script)) return error_set(error, "%.300s: %s", path, strerror(errno));
    int status = run_gnuplot(folder, SCRIPT, error);
    if (!status) unlink(path);
    return status;
}
