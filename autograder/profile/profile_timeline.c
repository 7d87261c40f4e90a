#include "autograder/profile/profile_timeline.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/profile/profile_stalls.h"
#include "autograder/text/text.h"

/* ---- warps -------------------------------------------------------------------------------- */

static SimtStall main_stall(const SimtBin *bin)
{
    SimtStall most = STALL_SELECTED;
    for (int k = 1; k < SIMT_STALLS; k++)
        if (bin->cycles[k] > bin->cycles[most]) most = (SimtStall)k;
    return most;
}

/* The replayed SM's own clock is lower while its tensor cores multiply. */
static uint64_t launch_cycles(const SimtProfile *profile, uint64_t sm_cycles)
{
    const uint64_t end = profile->timeline.end;
    if (!end || !profile->replayed_cycles || end <= profile->replayed_cycles) return sm_cycles;
    return (uint64_t)((double)sm_cycles * (double)profile->replayed_cycles / (double)end);
}

uint32_t warp_runs_find(const SimtProfile *profile, uint32_t block, uint32_t warp, WarpRun *run)
{
    const SimtTimeline *timeline = &profile->timeline;
    const SimtBin *bin = timeline_bins(timeline, block, warp);
    uint32_t runs = 0, longest = 0;
    for (uint32_t i = 0; i < TIMELINE_BINS; i++) {
        const SimtStall stall = main_stall(&bin[i]);
        const uint64_t begin = launch_cycles(profile, i * timeline->bin_cycles),
                       end = launch_cycles(profile, (i + 1) * timeline->bin_cycles);
        if (!bin[i].cycles[stall]) continue;
        const int continues = runs && run[runs - 1].stall == stall && run[runs - 1].end == begin;
        if (!continues) {
            run[runs++] = (WarpRun){.stall = stall, .begin = begin};
            longest = 0;
        }
        run[runs - 1].end = end;
        run[runs - 1].cycles += bin[i].cycles[stall];
        if (bin[i].longest > longest)
            longest = bin[i].longest, run[runs - 1].instruction = bin[i].instruction;
    }
    return runs;
}

static const SimtInstruction *instruction_at(const SimtProfile *profile, uint32_t number)
{
    const SimtInstruction *in =
        number < profile->instructions ? &profile->instruction[number] : NULL;
    return in && in->opcode ? in : NULL;
}

enum { COPIES = 1, MULTIPLIES = 2 };

static int warp_work(const SimtProfile *profile, uint32_t block, uint32_t warp)
{
    const SimtBin *bin = timeline_bins(&profile->timeline, block, warp);
    int work = 0;
    for (uint32_t i = 0; i < TIMELINE_BINS; i++) {
        const SimtInstruction *in =
            bin[i].longest ? instruction_at(profile, bin[i].instruction) : NULL;
        if (!in) continue;
        if (!strncmp(in->opcode, "cp.async", 8)) work |= COPIES;
        if (strstr(in->opcode, "mma")) work |= MULTIPLIES;
    }
    return work;
}

const char *warp_role(const SimtProfile *profile, uint32_t block, uint32_t warp)
{
    int all = 0;
    const int own = warp_work(profile, block, warp);
    for (uint32_t w = 0; w < profile->timeline.warps; w++)
        all |= 1 << warp_work(profile, block, w);
    if (!(all >> COPIES & 1) || !(all >> MULTIPLIES & 1)) return "";
    return own == COPIES ? "producer" : own == MULTIPLIES ? "consumer" : "";
}

/* ---- HTML --------------------------------------------------------------------------------- */

enum { WIDTH = 1000, LEFT = 150, ROW = 14, MOST_SPANS = 64, MOST_LAUNCHES = 200 };

static const char *const COLOUR[SIMT_STALLS] = {[STALL_SELECTED] = "#2e8b57",
                                                [STALL_NOT_SELECTED] = "#a6d8b8",
                                                [STALL_WAIT] = "#f2c14e",
                                                [STALL_LONG_SCOREBOARD] = "#b5403a",
                                                [STALL_SHORT_SCOREBOARD] = "#e58e73",
                                                [STALL_MATH_PIPE] = "#4a90c2",
                                                [STALL_LG_THROTTLE] = "#7b1e3a",
                                                [STALL_MIO_THROTTLE] = "#c98bb9",
                                                [STALL_BARRIER] = "#8a8a8a",
                                                [STALL_LOCAL] = "#5a2d0c",
                                                [STALL_SPECIAL] = "#d9a404",
                                                [STALL_MBARRIER] = "#5f5fa8",
                                                [STALL_GMMA] = "#1f4e79",
                                                [STALL_TENSOR_PIPE] = "#0b8f8c"};

static void html_text(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '>')
            fputs("&gt;", file);
        else if (*text == '&')
            fputs("&amp;", file);
        else if (*text == '"')
            fputs("&quot;", file);
        else
            fputc(*text, file);
    }
}

static double x_of(uint64_t cycle, uint64_t all)
{
    return LEFT + (all ? (double)cycle * WIDTH / (double)all : 0);
}

static void svg_begin(FILE *file, const char *about, uint32_t rows)
{
    fprintf(file, "<svg role=\"img\" viewBox=\"0 0 %d %u\" width=\"%d\"><title>", LEFT + WIDTH + 10,
            (rows + 2) * ROW, LEFT + WIDTH + 10);
    html_text(file, about);
    fputs("</title>\n", file);
}

/* Five labels below the rows. */
static void axis_print(FILE *file, uint64_t all, uint32_t rows)
{
    enum { TICKS = 4 };
    for (uint64_t i = 0; i <= TICKS; i++)
        fprintf(file, "<text x=\"%.0f\" y=\"%u\" text-anchor=\"middle\">%" PRIu64 "</text>\n",
                x_of(all * i / TICKS, all), (rows + 1) * ROW, all * i / TICKS);
    fputs("</svg>\n", file);
}

/* One path per stall: all runs of the warp with it. */
static void warp_print(FILE *file, const ProfilePage *page, uint32_t block, uint32_t warp,
                       uint64_t all)
{
    WarpRun run[TIMELINE_BINS];
    const uint32_t runs = warp_runs_find(page->profile, block, warp, run), y = warp * ROW;
    const char *role = warp_role(page->profile, block, warp);
    fprintf(file, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">warp %u%s%s</text>\n", LEFT - 6,
            y + ROW - 3, warp, *role ? ", " : "", role);
    for (int k = 0; k < SIMT_STALLS; k++) {
        uint64_t cycles = 0;
        for (uint32_t i = 0; i < runs; i++)
            if (run[i].stall == (SimtStall)k) cycles += run[i].end - run[i].begin;
        if (!cycles) continue;
        fprintf(file, "<path fill=\"%s\" d=\"", COLOUR[k]);
        for (uint32_t i = 0; i < runs; i++)
            if (run[i].stall == (SimtStall)k)
                fprintf(file, "M%.1f %uH%.1fv%dH%.1fz", x_of(run[i].begin, all), y + 1,
                        x_of(run[i].end, all), ROW - 2, x_of(run[i].begin, all));
        fprintf(file, "\"><title>warp %u: %s, %" PRIu64 " cycles</title></path>\n", warp,
                stall_reason((SimtStall)k), cycles);
    }
}

static void legend_print(FILE *file, const SimtProfile *profile)
{
    uint64_t cycles[SIMT_STALLS] = {0};
    for (uint32_t i = 0; i < profile->instructions; i++)
        for (int k = 0; k < SIMT_STALLS; k++)
            cycles[k] += profile->instruction[i].stall[k];
    fputs("<p class=\"legend\">", file);
    for (int k = 0; k < SIMT_STALLS; k++)
        if (cycles[k])
            fprintf(file, "<span><i style=\"background:%s\"></i>%s</span>\n", COLOUR[k],
                    stall_reason((SimtStall)k));
    fputs("</p>\n", file);
}

static void warps_print(FILE *file, const ProfilePage *page)
{
    const SimtTimeline *timeline = &page->profile->timeline;
    const uint64_t all = launch_cycles(page->profile, timeline->end);
    if (!timeline->bin || !all) return;
    fprintf(file,
            "<h2>Warps by stall reason</h2>\n<p>The first blocks of one SM. Each column of %" PRIu64
            " cycles has the colour of the reason with most of its cycles.</p>\n",
            timeline->bin_cycles);
    legend_print(file, page->profile);
    for (uint32_t b = 0; b < timeline->blocks; b++) {
        char about[80];
        text_set(about, sizeof about, "block %" PRIu64, timeline->block[b]);
        fprintf(file, "<h3>Block %" PRIu64 "</h3>\n", timeline->block[b]);
        svg_begin(file, about, timeline->warps);
        for (uint32_t w = 0; w < timeline->warps; w++)
            warp_print(file, page, b, w, all);
        axis_print(file, all, timeline->warps);
    }
}

static void blocks_print(FILE *file, const ProfilePage *page)
{
    const SimtProfile *profile = page->profile;
    const uint32_t rows = profile->spans < MOST_SPANS ? profile->spans : MOST_SPANS;
    if (!rows) return;
    fprintf(file, "<h2>Blocks on one SM</h2>\n<p>%u blocks%s, by the cycle of their start.</p>\n",
            rows, rows < profile->spans ? " of those that were replayed" : "");
    svg_begin(file, "blocks on one SM", rows);
    for (uint32_t i = 0; i < rows; i++) {
        const SimtSpan *span = &profile->span[i];
        const double from = x_of(span->begin, profile->replayed_cycles);
        fprintf(file,
                "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">block %" PRIu64
                "</text><rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" "
                "fill=\"#4a90c2\"><title>block %" PRIu64 ": cycles %" PRIu64 " to %" PRIu64
                "</title></rect>\n",
                LEFT - 6, (i + 1) * ROW - 3, span->block, from, i * ROW + 1,
                x_of(span->end, profile->replayed_cycles) - from, ROW - 2, span->block, span->begin,
                span->end);
    }
    axis_print(file, profile->replayed_cycles, rows);
}

static void launches_print(FILE *file, const ProfilePage *page)
{
    const ProfileLaunches *launches = &page->launches;
    const uint32_t rows = launches->launches < MOST_LAUNCHES ? launches->launches : MOST_LAUNCHES;
    uint64_t all = 0;
    if (rows < 2) return;
    for (uint32_t i = 0; i < rows; i++)
        if (launches->launch[i].end > all) all = launches->launch[i].end;
    fprintf(file, "<h2>Launches</h2>\n<p>%u of %u launches, in cycles of the program.</p>\n", rows,
            launches->launches);
    svg_begin(file, "launches", rows);
    for (uint32_t i = 0; i < rows; i++) {
        const DeviceLaunch *l = &launches->launch[i];
        fprintf(file,
                "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%u: %.16s</text><rect x=\"%.1f\" "
                "y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"#2e8b57\"><title>",
                LEFT - 6, (i + 1) * ROW - 3, i + 1, l->kernel, x_of(l->begin, all), i * ROW + 1,
                x_of(l->end, all) - x_of(l->begin, all), ROW - 2);
        html_text(file, l->kernel);
        fprintf(file, ", stream %u: %" PRIu64 " cycles</title></rect>\n", l->stream, l->cycles);
    }
    axis_print(file, all, rows);
}

void timeline_html(FILE *file, const ProfilePage *page)
{
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width\"><title>Timeline: ",
          file);
    html_text(file, page->profile->kernel);
    fputs("</title>\n<style>body{font:14px sans-serif;margin:1.5em;max-width:1200px}"
          "svg{max-width:100%;height:auto;font-size:11px}h3{margin:.8em 0 .2em}"
          ".legend span{margin-right:1.2em;white-space:nowrap}"
          ".legend i{display:inline-block;width:.9em;height:.9em;margin-right:.4em}"
          "@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}"
          "svg text{fill:#ddd}}</style></head><body>\n<h1>",
          file);
    html_text(file, page->profile->kernel);
    fprintf(file,
            "</h1>\n<p>%" PRIu64 " cycles on the simulated %s. Cycles of the axes start with "
            "the first block.</p>\n",
            page->profile->cycles, page->machine->title);
    warps_print(file, page);
    blocks_print(file, page);
    launches_print(file, page);
    fputs("</body></html>\n", file);
}

/* ---- Chrome trace ------------------------------------------------------------------------- */

typedef struct TraceFile {
    FILE *file;
    double clock_mhz;
    uint64_t events;
} TraceFile;

/* Writes an event and frees it. */
static void event_put(TraceFile *trace, json_t *event)
{
    if (!event) return;
    fputs(trace->events++ ? ",\n" : "", trace->file);
    json_dumpf(event, trace->file, JSON_COMPACT | JSON_REAL_PRECISION(12));
    json_decref(event);
}

static void name_put(TraceFile *trace, const char *kind, int process, int thread, const char *name)
{
    event_put(trace, json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "ph", "M", "name", kind, "pid",
                               process, "tid", thread, "args", "name", name));
}

/* Cycles since the beginning of the program. */
static void span_put(TraceFile *trace, int process, int thread, const char *name, uint64_t begin,
                     uint64_t end, json_t *args)
{
    event_put(trace,
              json_pack("{s:s, s:s, s:i, s:i, s:f, s:f, s:o}", "ph", "X", "name", name, "pid",
                        process, "tid", thread, "ts", (double)begin / trace->clock_mhz, "dur",
                        (double)(end - begin) / trace->clock_mhz, "args", args));
}

enum { LAUNCH_PROCESS = 1, BLOCK_PROCESS = 2, WARP_PROCESS = 3 };

static void launches_trace(TraceFile *trace, const ProfileLaunches *launches)
{
    name_put(trace, "process_name", LAUNCH_PROCESS, 0, "launches, by stream");
    for (uint32_t i = 0; i < launches->launches; i++) {
        const DeviceLaunch *l = &launches->launch[i];
        span_put(trace, LAUNCH_PROCESS, (int)l->stream, l->kernel, l->begin, l->end,
                 json_pack("{s:i, s:I, s:[iii], s:[iii]}", "launch", (int)i + 1, "cycles",
                           (json_int_t)l->cycles, "grid", (int)l->grid[0], (int)l->grid[1],
                           (int)l->grid[2], "block", (int)l->block[0], (int)l->block[1],
                           (int)l->block[2]));
    }
}

/* Each block on the first row that is free at its start. */
static void blocks_trace(TraceFile *trace, const SimtProfile *profile, uint64_t start)
{
    enum { ROWS = 64 };
    uint64_t free_at[ROWS] = {0};
    name_put(trace, "process_name", BLOCK_PROCESS, 0, "blocks of one SM");
    for (uint32_t i = 0; i < profile->spans; i++) {
        const SimtSpan *span = &profile->span[i];
        char name[40];
        int row = 0;
        while (row < ROWS - 1 && free_at[row] > span->begin)
            row++;
        free_at[row] = span->end;
        text_set(name, sizeof name, "block %" PRIu64, span->block);
        span_put(trace, BLOCK_PROCESS, row, name, start + span->begin, start + span->end,
                 json_pack("{s:I}", "block", (json_int_t)span->block));
    }
}

static json_t *run_args(const SimtProfile *profile, const WarpRun *run)
{
    const SimtInstruction *in = instruction_at(profile, run->instruction);
    if (!in) return json_pack("{s:s}", "stall", simt_stall_name(run->stall));
    return json_pack("{s:s, s:s, s:s, s:i}", "stall", simt_stall_name(run->stall), "ptx",
                     in->text ? in->text : in->opcode, "file", in->file, "line", (int)in->line);
}

static void warps_trace(TraceFile *trace, const SimtProfile *profile, uint32_t block,
                        uint64_t start)
{
    WarpRun run[TIMELINE_BINS];
    char name[80];
    const int process = WARP_PROCESS + (int)block;
    text_set(name, sizeof name, "warps of block %" PRIu64, profile->timeline.block[block]);
    name_put(trace, "process_name", process, 0, name);
    for (uint32_t w = 0; w < profile->timeline.warps; w++) {
        const uint32_t runs = warp_runs_find(profile, block, w, run);
        const char *role = warp_role(profile, block, w);
        text_set(name, sizeof name, "warp %u%s%s", w, *role ? ", " : "", role);
        name_put(trace, "thread_name", process, (int)w, name);
        for (uint32_t i = 0; i < runs; i++)
            span_put(trace, process, (int)w, stall_reason(run[i].stall), start + run[i].begin,
                     start + run[i].end, run_args(profile, &run[i]));
    }
}

void timeline_trace(FILE *file, const ProfilePage *page)
{
    const SimtProfile *profile = page->profile;
    const ProfileLaunches *launches = &page->launches;
    TraceFile trace = {.file = file, .clock_mhz = page->machine->clock_mhz};
    uint64_t start = page->machine->launch_cycles > 0 ? (uint64_t)page->machine->launch_cycles : 0;
    for (uint32_t i = 0; i < launches->launches; i++)
        if (launches->launch[i].number == profile->number) start += launches->launch[i].begin;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", file);
    launches_trace(&trace, launches);
    blocks_trace(&trace, profile, start);
    for (uint32_t b = 0; profile->timeline.bin && b < profile->timeline.blocks; b++)
        warps_trace(&trace, profile, b, start);
    fputs("\n]}\n", file);
}
