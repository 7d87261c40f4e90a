#include "autograder/profile/profile.h"

#include <inttypes.h>
#include <string.h>

#include "autograder/profile/profile_lines.h"
#include "autograder/profile/profile_phases.h"
#include "autograder/profile/profile_pipes.h"
#include "autograder/profile/profile_stalls.h"
#include "autograder/profile/profile_timeline.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"

enum { HOT_LINES = 12, TIMELINE_ROWS = 16, TIMELINE_COLUMNS = 60 };

static double part(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

/* Number of the launch in the list of launches, from 1; 0: unknown. */
static uint32_t launch_ordinal(const ProfilePage *page)
{
    for (uint32_t i = 0; i < page->launches.launches; i++)
        if (page->launches.launch[i].number == page->profile->number) return i + 1;
    return 0;
}

static void launch_print(FILE *stream, const ProfilePage *page)
{
    const SimtProfile *p = page->profile;
    const SimtMachine *m = page->machine;
    uint64_t blocks = (uint64_t)p->grid[0] * p->grid[1] * p->grid[2];
    uint32_t threads = p->threads[0] * p->threads[1] * p->threads[2], warps = (threads + 31) / 32;
    uint64_t at_once = (uint64_t)p->resident_blocks * m->sms;
    double waves = part(blocks, at_once);
    char cycles[40], launch[40], shared[40];
    char line[400];
    text_set(line, sizeof line, "%s: grid %ux%ux%u, block %ux%ux%u", p->kernel, p->grid[0],
             p->grid[1], p->grid[2], p->threads[0], p->threads[1], p->threads[2]);
    text_wrap(stream, 2, line);
    text_set(line, sizeof line, "%s cycles on %s (%.1f us), %s of them for the launch",
             text_thousands((double)p->cycles, cycles), m->title, (double)p->cycles / m->clock_mhz,
             text_thousands(m->launch_cycles, launch));
    text_wrap(stream, 2, line);
    text_set(line, sizeof line,
             "%u registers per thread, %s bytes of shared memory per block: %u block%s per SM, %u "
             "of %u warps (%.0f %%), %.2f waves",
             p->registers, text_thousands(p->shared_bytes, shared), p->resident_blocks,
             p->resident_blocks == 1 ? "" : "s", p->resident_blocks * warps, m->max_warps_per_sm,
             100.0 * p->resident_blocks * warps / m->max_warps_per_sm, waves);
    text_wrap(stream, 2, line);
    if (page->is_selected && launch_ordinal(page))
        fprintf(stream, "  launch %u of %u\n", launch_ordinal(page), page->launches.launches);
    else if (page->cost->launches > 1)
        fprintf(stream, "  the longest of %" PRIu64 " launches\n", page->cost->launches);
}

static void bottleneck_print(FILE *stream, const ProfilePage *page)
{
    SimtInstruction all = {0};
    uint64_t cycles = 0;
    for (uint32_t i = 0; i < page->profile->instructions; i++)
        for (int k = 0; k < SIMT_STALLS; k++) {
            all.stall[k] += page->profile->instruction[i].stall[k];
            cycles += page->profile->instruction[i].stall[k];
        }
    Table table = table_start("lrl");
    for (int k = 0; k < SIMT_STALLS; k++)
        if (all.stall[k] * 100 >= cycles)
            table_row(&table, "%s\t%.1f %%\t%s", stall_reason((SimtStall)k),
                      100 * part(all.stall[k], cycles), simt_stall_name((SimtStall)k));
    fprintf(stream, "\n  Activity of the warps, by cycles\n\n");
    table_end(&table, stream, 4);
    SimtStall most = instruction_stall(&all);
    fputc('\n', stream);
    text_wrap(stream, 4, stall_remedy(most));
}

/* Whole instructions, with their share of the kernel's, as in the table of lines. */
static void ptx_print(Table *table, const ProfilePage *page, const ProfileLines *lines,
                      const ProfileLine *line)
{
    for (uint32_t i = 0; i < page->profile->instructions; i++) {
        const SimtInstruction *in = &page->profile->instruction[i];
        char note[300];
        if (in->line != line->sum.line || strcmp(in->file, line->sum.file) ||
            instruction_cycles(in) * 50 < line->cycles)
            continue;
        text_set(note, sizeof note, "%5.1f %%  PTX line %u: %s",
                 100 * part(instruction_cycles(in), lines->cycles), in->ptx_line, in->text);
        table_note(table, note);
    }
}

/* The text of a line: its source, the name of another file, or the description if there is no
 * line. */
static void line_text(const ProfileLine *line, char *text, size_t bytes)
{
    if (*line->text)
        text_set(text, bytes, "%s", line->text);
    else if (line->sum.line)
        text_set(text, bytes, "(in %s)", line->sum.file);
    else
        text_set(text, bytes, "(not your code: added by nvcc, for example to read parameters)");
}

/* Unit for the lines' instruction counts, so that most have few digits: millions, thousands or
 * one. */
static double lines_unit(const ProfileLines *lines, const char **name)
{
    uint64_t most = 0;
    for (size_t i = 0; i < lines->lines; i++)
        if (lines->line[i].sum.warp_instructions > most)
            most = lines->line[i].sum.warp_instructions;
    *name = most >= 1000000 ? " M" : most >= 1000 ? " k" : "";
    return most >= 1000000 ? 1e6 : most >= 1000 ? 1e3 : 1;
}

/* Share of the line's cycles in functions of other files that are inlined there. */
static void inlined_note(Table *table, const ProfileLine *line)
{
    char note[300];
    if (!line->inlined_cycles) return;
    text_set(note, sizeof note, "%5.1f %% of these cycles are in %s, inlined here",
             100 * part(line->inlined_cycles, line->cycles), line->inlined);
    table_note(table, note);
}

static void lines_print(FILE *stream, const ProfilePage *page, const ProfileLines *lines)
{
    Table table = table_start("rrrrrlw");
    const char *unit;
    double one = lines_unit(lines, &unit);
    table_row(&table, "line\tcycles\tinstr.\tsectors\twavefr.\twaits for\t");
    for (size_t i = 0; i < lines->lines && i < HOT_LINES; i++) {
        const ProfileLine *line = &lines->line[i];
        char sectors[24] = "", wavefronts[24] = "", text[420], number[16] = "-";
        if (line->cycles * 200 < lines->cycles) break;
        if (line->sum.requests)
            text_set(sectors, sizeof sectors, "%.1f", part(line->sum.sectors, line->sum.requests));
        if (line->sum.shared_requests)
            text_set(wavefronts, sizeof wavefronts, "%.1f",
                     part(line->sum.wavefronts, line->sum.shared_requests));
        if (line->sum.line) text_set(number, sizeof number, "%u", line->sum.line);
        line_text(line, text, sizeof text);
        table_row(&table, "%s\t%.1f %%\t%.*f%s\t%s\t%s\t%s\t%s", number,
                  100 * part(line->cycles, lines->cycles), one > 1,
                  (double)line->sum.warp_instructions / one, unit, sectors, wavefronts,
                  stall_reason(instruction_stall(&line->sum)), text);
        inlined_note(&table, line);
        if (page->ptx) ptx_print(&table, page, lines, line);
    }
    fprintf(stream,
            "\n"
            "  Hot lines (sectors per request, wavefronts per access; floats take 4 and 1)\n"
            "\n");
    table_end(&table, stream, 4);
}

/* The bytes that ptxas puts into local memory, and whether these cycles include them. */
static void spills_print(FILE *stream, const ProfilePage *page, uint64_t sectors)
{
    const SimtProfile *profile = page->profile;
    char text[600], count[40], where[40] = "";
    if (!profile->spilled_bytes) return;
    if (profile->spill_line)
        text_set(where, sizeof where, ", most at line %u", profile->spill_line);
    text_set(text, sizeof text,
             "ptxas spills %u bytes per thread to local memory%s, because there are too few "
             "registers%s%s. Use fewer accumulators per thread, or allow more registers "
             "(__launch_bounds__).",
             profile->spilled_bytes, where,
             profile->spills ? ": sectors of local memory, with arrays if there are any: "
                             : ". The machine code does not show where, and these cycles do not "
                               "include the spills: a GPU is slower here",
             profile->spills ? text_thousands((double)sectors, count) : "");
    fputc('\n', stream);
    text_wrap(stream, 2, text);
}

/* Local memory traffic by line, most sectors first; the column "sectors" does not include it. */
static void local_print(FILE *stream, const ProfilePage *page, const ProfileLines *lines)
{
    char text[600], count[40];
    uint64_t all = 0;
    const ProfileLine *most = NULL;
    for (size_t i = 0; i < lines->lines; i++) {
        all += lines->line[i].sum.local_sectors;
        if (!most || lines->line[i].sum.local_sectors > most->sum.local_sectors)
            most = &lines->line[i];
    }
    if (all && page->profile->array_bytes) {
        text_set(text, sizeof text,
                 "Local memory: %s sectors, %.0f %% of them at line %u: an array there is indexed "
                 "at run time, so it is in local memory and not in registers. Unroll the loops "
                 "over it (#pragma unroll), with bounds that are known at compile time.",
                 text_thousands((double)all, count), 100 * part(most->sum.local_sectors, all),
                 most->sum.line);
        fputc('\n', stream);
        text_wrap(stream, 2, text);
    }
    spills_print(stream, page, all);
}

static void phases_print(FILE *stream, const ProfileLines *lines)
{
    ProfilePhases phases;
    profile_phases_find(lines, 100, &phases);
    if (phases.phases < 2) return;
    Table table = table_start("lr");
    for (size_t i = 0; i < phases.phases; i++)
        table_row(&table, "%s\t%.1f %%", phases.phase[i].name, phases.phase[i].cycles);
    fprintf(stream, "\n  Phases (// phase: in the source, or its TODO regions)\n\n");
    table_end(&table, stream, 4);
}

static void timeline_print(FILE *stream, const ProfilePage *page)
{
    const SimtProfile *profile = page->profile;
    char cycles[40];
    if (!profile->replayed_cycles || !profile->spans) return;
    fprintf(stream, "\n"
                    "  One SM's first ");
    if (profile->spans > 1)
        fprintf(stream, "%u blocks", profile->spans);
    else
        fprintf(stream, "block");
    fprintf(stream, ", over %s cycles\n\n",
            text_thousands((double)profile->replayed_cycles, cycles));
    for (uint32_t i = 0; i < profile->spans && i < TIMELINE_ROWS; i++) {
        const SimtSpan *span = &profile->span[i];
        int begin = (int)(span->begin * TIMELINE_COLUMNS / profile->replayed_cycles),
            end = (int)(span->end * TIMELINE_COLUMNS / profile->replayed_cycles);
        fprintf(stream, "    block %-8" PRIu64 "%*s", span->block, begin, "");
        for (int k = begin; k < end || k == begin; k++)
            fputc('#', stream);
        fputc('\n', stream);
    }
    if (profile->spans > TIMELINE_ROWS)
        fprintf(stream, "    ... and %u more\n", profile->spans - TIMELINE_ROWS);
}

/* Position of the launch below its roof: that of the pipe that its operations occupy longest. */
typedef struct Roof {
    PipeFlops pipes;
    FlopPipe pipe; /* FLOP_PIPES: no floating-point operation was executed */
    double gflops, intensity, peak, bandwidth; /* 1e9 FLOP/s, FLOP per byte, 1e9 FLOP/s, 1e9 B/s */
} Roof;

static double launch_seconds(const ProfilePage *page)
{
    return (double)page->profile->cycles / (page->machine->clock_mhz * 1e6);
}

static Roof roof_of(const ProfilePage *page)
{
    Roof roof = {.bandwidth = page->machine->dram_gb_s};
    const double bytes = (double)page->profile->dram_bytes, seconds = launch_seconds(page);
    pipe_flops_find(page->profile, page->machine, &roof.pipes);
    roof.pipe = flop_pipe_main(&roof.pipes);
    roof.peak = roof.pipes.peak[roof.pipe == FLOP_PIPES ? FLOPS_FP32 : roof.pipe];
    if (roof.pipe == FLOP_PIPES) return roof;
    const double flops = roof.pipes.flops[roof.pipe];
    roof.gflops = seconds > 0 ? flops / seconds / 1e9 : 0;
    roof.intensity = bytes > 0 ? flops / bytes : 0;
    return roof;
}

/* "1,234 M", or "1,234,567" of few. */
static const char *flops_text(double flops, char text[44])
{
    char number[40];
    const int is_many = flops >= 1e7;
    text_set(text, 44, "%s%s", text_thousands(is_many ? flops / 1e6 : flops, number),
             is_many ? " M" : "");
    return text;
}

static void pipes_print(FILE *stream, const ProfilePage *page, const Roof *roof)
{
    Table table = table_start("lrrrr");
    char text[3][44];
    table_row(&table, "pipe\tFLOP\tGFLOP/s\troof\tof the roof");
    for (int i = 0; i < FLOP_PIPES; i++) {
        const double flops = roof->pipes.flops[i], peak = roof->pipes.peak[i],
                     rate = flops / launch_seconds(page) / 1e9;
        if (flops <= 0) continue;
        table_row(&table, "%s\t%s\t%s\t%s\t%.1f %%", flop_pipe_name((FlopPipe)i),
                  flops_text(flops, text[0]), text_thousands(rate, text[1]),
                  text_thousands(peak, text[2]), peak > 0 ? 100 * rate / peak : 0);
    }
    fprintf(stream, "\n  Floating-point operations that this launch executed\n\n");
    table_end(&table, stream, 4);
}

static void roofline_print(FILE *stream, const Roof *roof)
{
    const double memory = roof->intensity * roof->bandwidth;
    const int is_memory = roof->intensity > 0 && memory < roof->peak;
    const double limit = is_memory ? memory : roof->peak;
    char line[400], reached[40], possible[40];
    text_set(
        line, sizeof line,
        "Roofline: %s GFLOP/s (%s) at %.1f FLOP per byte of DRAM traffic; the roof there is %s "
        "GFLOP/s (%s): %.1f %% of it",
        text_thousands(roof->gflops, reached), flop_pipe_name(roof->pipe), roof->intensity,
        text_thousands(limit, possible), is_memory ? "memory bandwidth" : "arithmetic",
        limit > 0 ? 100 * roof->gflops / limit : 0);
    fputc('\n', stream);
    text_wrap(stream, 2, line);
}

/* Algorithms such as Winograd's execute other numbers of operations than the definition. */
static void definition_print(FILE *stream, const ProfilePage *page)
{
    char line[300], flops[44], rate[40], launches[40];
    text_set(line, sizeof line,
             "By definition, the whole call (%s launch%s, %.1f us) has %s FLOP: %s GFLOP/s",
             text_thousands((double)page->cost->launches, launches),
             page->cost->launches == 1 ? "" : "es", page->cost->seconds * 1e6,
             flops_text(page->flops, flops),
             text_thousands(page->flops / page->cost->seconds / 1e9, rate));
    fputc('\n', stream);
    text_wrap(stream, 2, line);
}

static void flops_print(FILE *stream, const ProfilePage *page)
{
    const Roof roof = roof_of(page);
    if (roof.pipe != FLOP_PIPES) {
        pipes_print(stream, page, &roof);
        roofline_print(stream, &roof);
    }
    if (page->flops > 0 && page->cost->seconds > 0) definition_print(stream, page);
}

void profile_print(FILE *stream, const ProfilePage *page)
{
    ProfileLines lines;
    profile_launches_print(stream, &page->launches);
    if (page->launches.launches > 1) fputc('\n', stream);
    launch_print(stream, page);
    if (profile_lines_make(page->profile, page->source, &lines)) return;
    bottleneck_print(stream, page);
    lines_print(stream, page, &lines);
    local_print(stream, page, &lines);
    phases_print(stream, &lines);
    timeline_print(stream, page);
    flops_print(stream, page);
    profile_lines_free(&lines);
}

/* ---- files -------------------------------------------------------------------------------- */

static const char COLUMNS[] = "warp_instructions\tthread_instructions\trequests\tsectors\tl1_hits\t"
                              "shared_requests\twavefronts\tbranches\tdivergent";

static void counts_write(FILE *file, const SimtInstruction *in)
{
    fprintf(file,
            "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
            "\t%" PRIu64 "\t%" PRIu64,
            in->warp_instructions, in->thread_instructions, in->requests, in->sectors, in->l1_hits,
            in->shared_requests, in->wavefronts, in->branches, in->divergent);
    for (int i = 0; i < SIMT_STALLS; i++)
        fprintf(file, "\t%" PRIu64, in->stall[i]);
    fprintf(file, "\t%" PRIu64 "\t%" PRIu64 "\n", in->local_requests, in->local_sectors);
}

static void header_write(FILE *file, const char *first)
{
    fprintf(file, "%s\t%s", first, COLUMNS);
    for (int i = 0; i < SIMT_STALLS; i++)
        fprintf(file, "\t%s", simt_stall_name((SimtStall)i));
    fprintf(file, "\tlocal_requests\tlocal_sectors\n");
}

static void ptx_write(FILE *file, const ProfilePage *page, const ProfileLines *lines)
{
    (void)lines;
    header_write(file, "kernel\tfile\tline\tptx_line\topcode");
    for (uint32_t i = 0; i < page->profile->instructions; i++) {
        const SimtInstruction *in = &page->profile->instruction[i];
        if (!in->opcode) continue;
        fprintf(file, "%s\t%s\t%u\t%u\t%s\t", page->profile->kernel, in->file, in->line,
                in->ptx_line, in->opcode);
        counts_write(file, in);
    }
}

static void lines_write(FILE *file, const ProfilePage *page, const ProfileLines *lines)
{
    (void)page;
    header_write(file, "file\tline\tphase");
    for (size_t i = 0; i < lines->lines; i++) {
        fprintf(file, "%s\t%u\t%s\t", lines->line[i].sum.file, lines->line[i].sum.line,
                lines->line[i].phase);
        counts_write(file, &lines->line[i].sum);
    }
}

static void phases_write(FILE *file, const ProfilePage *page, const ProfileLines *lines)
{
    ProfilePhases phases;
    (void)page;
    profile_phases_find(lines, (double)lines->cycles, &phases);
    fprintf(file, "phase\tcycles\tpart\n");
    for (size_t i = 0; i < phases.phases; i++) {
        const ProfilePhase *phase = &phases.phase[i];
        fprintf(file, "%s\t%.0f\t%.4f\n", phase->name, phase->cycles,
                lines->cycles ? phase->cycles / (double)lines->cycles : 0);
    }
}

static void timeline_write(FILE *file, const ProfilePage *page, const ProfileLines *lines)
{
    (void)lines;
    fprintf(file, "sm\tblock\tbegin\tend\n");
    for (uint32_t i = 0; i < page->profile->spans; i++) {
        const SimtSpan *span = &page->profile->span[i];
        fprintf(file, "%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", span->sm, span->block,
                span->begin, span->end);
    }
}

static void roofline_write(FILE *file, const ProfilePage *page, const ProfileLines *lines)
{
    Roof roof = roof_of(page);
    (void)lines;
    fprintf(file, "flop_per_byte\tgflops\tpeak_gflops\tdram_gb_s\n%.4f\t%.2f\t%.1f\t%.1f\n",
            roof.intensity, roof.gflops, roof.peak, roof.bandwidth);
}

static void stalls_write(FILE *file, const ProfilePage *page, const ProfileLines *lines)
{
    ProfileStalls stalls;
    (void)lines;
    profile_stalls_find(page->profile, &stalls);
    profile_stalls_put(file, &stalls);
}

static void pipes_write(FILE *file, const ProfilePage *page, const ProfileLines *lines)
{
    const Roof roof = roof_of(page);
    (void)lines;
    fprintf(file, "pipe\tflop\tgflops\tpeak_gflops\n");
    for (int i = 0; i < FLOP_PIPES; i++)
        if (roof.pipes.flops[i] > 0)
            fprintf(file, "%s\t%.0f\t%.2f\t%.1f\n", flop_pipe_name((FlopPipe)i),
                    roof.pipes.flops[i], roof.pipes.flops[i] / launch_seconds(page) / 1e9,
                    roof.pipes.peak[i]);
}

static void launches_write(FILE *file, const ProfilePage *page, const ProfileLines *lines)
{
    (void)lines;
    profile_launches_write(file, &page->launches);
}

static void html_write(FILE *file, const ProfilePage *page, const ProfileLines *lines)
{
    (void)lines;
    timeline_html(file, page);
}

static void trace_write(FILE *file, const ProfilePage *page, const ProfileLines *lines)
{
    (void)lines;
    timeline_trace(file, page);
}

static void timeline_script(FILE *file, const ProfilePage *page, const ProfileLines *lines)
{
    (void)page, (void)lines;
    fputs("set terminal svg size 820,420 font 'Helvetica,13' background '#ffffff'\n"
          "set output 'timeline.svg'\n"
          "set datafile separator \"\\t\"\n"
          "set xlabel 'cycles'\n"
          "set format x '%.0f'\n"
          "set xrange [0:*]\n"
          "set ylabel 'blocks of one SM, in the order of their start'\n"
          "set yrange [*:*] reverse\n"
          "set offsets 0,0,0.6,0.6\n"
          "unset ytics\n"
          "set style fill solid 0.7 border -1\n"
          "set key off\n"
          "plot 'timeline.tsv' skip 1 using 3:0:3:4:($0-0.4):($0+0.4) with boxxyerror lc rgb "
          "'#4a90c2'\n",
          file);
}

static void roofline_script(FILE *file, const ProfilePage *page, const ProfileLines *lines)
{
    Roof roof = roof_of(page);
    (void)lines;
    fprintf(file,
            "reset\nset terminal svg size 720,480 font 'Helvetica,13' background '#ffffff'\n"
            "set output 'roofline.svg'\nset datafile separator \"\\t\"\nset logscale xy\n"
            "set xlabel 'FLOP per byte of DRAM traffic'\nset ylabel 'GFLOP/s'\n"
            "set xrange [0.1:10000]\nset yrange [1:*]\nset grid lc rgb '#dddddd'\nset key bottom "
            "right\n"
            "peak = %.1f\nbandwidth = %.1f\n"
            "plot (x * bandwidth < peak ? x * bandwidth : peak) with lines lw 2 lc rgb '#444444' "
            "title 'roof of %s', \\\n"
            "     'roofline.tsv' skip 1 using 1:2 with points pt 7 ps 1.2 lc rgb '#b5403a' title "
            "'this run'\n",
            roof.peak, roof.bandwidth, page->machine->title);
}

typedef void Writer(FILE *file, const ProfilePage *page, const ProfileLines *lines);

static int file_make(const char *path, const ProfilePage *page, const ProfileLines *lines,
                     Writer *write, Error *error)
{
    FILE *file = fopen(path, "w");
    if (!file) return error_set(error, "%s: %m", path);
    write(file, page, lines);
    int broken = ferror(file);
    return fclose(file) || broken ? error_set(error, "%s: %m", path) : 0;
}

int profile_write_html(const char *path, const ProfilePage *page, Error *error)
{
    return file_make(path, page, NULL, html_write, error);
}

int profile_write_trace(const char *path, const ProfilePage *page, Error *error)
{
    return file_make(path, page, NULL, trace_write, error);
}

int profile_write(const char *directory, const ProfilePage *page, Error *error)
{
    static const struct {
        const char *name;
        Writer *write;
    } FILES[] = {{"profile.tsv", ptx_write},       {"lines.tsv", lines_write},
                 {"phases.tsv", phases_write},     {"timeline.tsv", timeline_write},
                 {"roofline.tsv", roofline_write}, {"timeline.gp", timeline_script},
                 {"roofline.gp", roofline_script}, {"stalls.tsv", stalls_write},
                 {"pipes.tsv", pipes_write},       {"launches.tsv", launches_write},
                 {"timeline.html", html_write},    {"trace.json", trace_write}};
    ProfileLines lines;
    char path[1200];
    int status = 0;
    if (profile_lines_make(page->profile, page->source, &lines))
        return error_set(error, "out of memory");
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES && !status; i++) {
        text_set(path, sizeof path, "%s/%s", directory, FILES[i].name);
        status = file_make(path, page, &lines, FILES[i].write, error);
    }
    profile_lines_free(&lines);
    return status;
}
