/* test_simt_races.c - racecheck and initcheck of random accesses against a plain model of their
 * rules: words one by one, each with all that is known of it, and no shortcuts.
 *
 * A kernel of random loads, stores, atomics, copies and barriers runs on the simulator, which takes
 * rows of words together where it can; the model plays the same in the same order.  They must agree
 * on how many findings there are and on the first one's words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/exec/exec.h"
#include "common/simulator/tests/simt_fixture.h"

enum { WORD = 4, SHARED = 2048, GLOBAL = 1 << 16, TABLE = 4096, MOST_STEPS = 24 };
enum { WARPS = 3, MOST_THREADS = WARPS * LANES, BLOCKS = 3, PAST_END = 64 };

typedef enum Act { LOAD, STORE, ATOMIC, COPY, WAIT, BARRIER } Act;

/* An access: thread t of lanes `mask` accesses ((t * stride + at) & limit) of its warp's part. */
typedef struct Step {
    Act act;
    int global;
    uint32_t element, count; /* bytes of an element, elements of a lane */
    uint32_t at, lane_stride, warp_stride, block_stride, mask;
    uint32_t value, values; /* stores value + (lane & values) */
} Step;

static uint32_t dice(uint32_t *state, uint32_t sides)
{
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)*state * sides >> 32);
}

/* ---- the model ------------------------------------------------------------------------------- */

enum { NOBODY = 0xffff };

typedef struct Word {
    uint64_t number, wrote, read; /* epochs */
    uint32_t write_step, read_step, other_step;
    uint32_t writer, reader, other, write_bytes;
    uint32_t readers[WORD]; /* per byte, a bit mask of warps */
    int atomic, whole;      /* the whole word was read at once */
} Word;

/* Shadow of a word of global memory: the lowest block and step of each kind, and whether there are
 * more. */
typedef struct Side {
    uint32_t block, step; /* + 1; 0: none */
    int many;
} Side;

typedef struct Model {
    const Step *step;
    int initcheck;
    uint64_t epoch;
    uint32_t block;
    unsigned char shared[SHARED + PAST_END], written[SHARED + PAST_END], global[GLOBAL];
    Word word[SHARED / WORD + PAST_END], table[TABLE];
    Side reader[GLOBAL / WORD], writer[GLOBAL / WORD];
    uint32_t value[GLOBAL / WORD];
    int values[GLOBAL / WORD]; /* different ones: 0, 1, 2 for more */
    uint64_t findings;
    int first_is_race;
    char first[512];
} Model;

static const char *const KIND[] = {"Read", "Write", "Atomic"};

static uint32_t step_place(const Step *step, uint32_t block, uint32_t thread)
{
    uint32_t at = step->at + thread % LANES * step->lane_stride +
                  thread / LANES * step->warp_stride + block * step->block_stride;
    return at & ((step->global ? GLOBAL : SHARED) - 1) & ~(step->element * step->count - 1);
}

static uint32_t step_value(const Step *step, uint32_t thread, uint32_t element)
{
    return step->value + (thread % LANES & step->values) + element;
}

static void finding(Model *m, int is_race, const char *text)
{
    m->findings++;
    if (m->findings > 1 && (m->first_is_race || !is_race)) return;
    m->first_is_race = is_race;
    snprintf(m->first, sizeof m->first, "%s", text);
}

static void race_finding(Model *m, const char *name, int before, uint32_t step, uint32_t thread,
                         int kind, uint32_t here, uint32_t at)
{
    char text[512];
    snprintf(text, sizeof text,
             "Race reported between %s access at k.cu:%u by thread (%u,0,0) and %s access at "
             "k.cu:%u: %s hazard on %s 0x%llx",
             KIND[before], step + 1, thread, KIND[kind], here + 1, name,
             m->step[here].global ? "__global__ memory" : "__shared__ memory, offset",
             (unsigned long long)at);
    finding(m, 1, text);
}

/* The value that a lane stores there; 0 if it is not recorded. */
static uint32_t part_stored(const Step *step, uint32_t thread, uint32_t skip, unsigned char *value)
{
    uint32_t bytes = step->element < WORD ? step->element : WORD;
    if (step->act == COPY || (step->element < WORD && step->count > 1)) return 0;
    uint64_t whole = step_value(step, thread, skip / step->element);
    memcpy(value, (char *)&whole + skip % step->element, bytes);
    return bytes;
}

static int others_read(const Word *w, uint32_t part, uint32_t warp)
{
    uint32_t others = 0;
    for (int byte = 0; byte < WORD; byte++)
        if (w->whole || part >> byte & 1) others |= w->readers[byte];
    return (others & ~(1u << warp)) != 0;
}

static void readers_add(Word *w, uint32_t part, uint32_t warp)
{
    for (int byte = 0; byte < WORD; byte++)
        w->readers[byte] |= (part >> byte & 1) << warp;
    w->whole |= part == 15;
}

/* Checks one word of an access; `host`: its contents. 1 when a hazard was reported. */
static int word_play(Model *m, Word *w, uint32_t number, uint32_t thread, uint32_t at,
                     uint32_t skip, int kind, uint32_t address, const unsigned char *host, int told)
{
    const Step *step = &m->step[number];
    uint32_t all = step->element * step->count, warp = thread / LANES, found = 0, other = 0,
             part = all >= WORD ? 15 : ((1u << all) - 1) << at % WORD, bytes;
    unsigned char mine[WORD];
    const char *name = "";
    int before = 1;
    uint32_t before_step = 0;
    if (w->wrote == m->epoch && w->writer / LANES != warp && w->write_bytes & part &&
        !(kind == 2 && w->atomic)) {
        found = 1, name = kind ? "WAW" : "RAW", before = w->atomic ? 2 : 1;
        before_step = w->write_step, other = w->writer;
    } else if (kind && w->read == m->epoch && others_read(w, part, warp)) {
        int first = w->reader / LANES != warp;
        found = 1, name = "WAR", before = 0;
        before_step = first ? w->read_step : w->other_step, other = first ? w->reader : w->other;
    }
    if (found && kind == 1 && before != 0) {
        bytes = part_stored(step, thread, skip, mine);
        if (bytes && memcmp(mine, host, bytes) == 0) found = 0;
    }
    if (told) found = 0;
    if (found) race_finding(m, name, before, before_step, other, kind, number, address);
    if (kind) {
        w->wrote = m->epoch, w->writer = thread, w->write_step = number, w->write_bytes = part;
        w->atomic = kind == 2;
    } else if (w->read != m->epoch) {
        w->read = m->epoch, w->reader = thread, w->read_step = number, w->other = NOBODY;
        memset(w->readers, 0, sizeof w->readers), w->whole = 0;
        readers_add(w, part, warp);
    } else {
        readers_add(w, part, warp);
        if (w->other == NOBODY && w->reader / LANES != warp)
            w->other = thread, w->other_step = number;
    }
    return (int)found;
}

static void side_add(Side *side, uint32_t block, uint32_t step)
{
    if (side->block && side->block != block + 1) side->many = 1;
    if (side->block &&
        (side->block < block + 1 || (side->block == block + 1 && side->step <= step + 1)))
        return;
    side->block = block + 1, side->step = step + 1;
}

static void blocks_play(Model *m, uint32_t number, uint32_t thread, uint32_t at, uint32_t skip)
{
    const Step *step = &m->step[number];
    uint32_t value = 0;
    if (step->element < WORD || step->act == ATOMIC) return;
    side_add(step->act == STORE ? &m->writer[at / WORD] : &m->reader[at / WORD], m->block, number);
    if (step->act != STORE) return;
    part_stored(step, thread, skip, (unsigned char *)&value);
    if (!m->values[at / WORD])
        m->values[at / WORD] = 1, m->value[at / WORD] = value;
    else if (m->value[at / WORD] != value)
        m->values[at / WORD] = 2;
}

static void init_play(Model *m, uint32_t number, uint32_t warp, uint32_t mask)
{
    const Step *step = &m->step[number];
    uint32_t bytes = step->element * step->count;
    char text[512];
    for (uint32_t lane = 0; lane < LANES && m->initcheck; lane++) {
        uint32_t at = step_place(step, m->block, warp * LANES + lane), have = 0;
        if (!(mask >> lane & 1)) continue;
        for (uint32_t i = 0; i < bytes; i++)
            have += m->written[at + i];
        if (have == bytes) continue;
        snprintf(text, sizeof text, "Uninitialized __shared__ memory read of %u bytes", bytes);
        finding(m, 0, text);
        return;
    }
}

/* Lanes of one store, each held against the first with its address. */
static void lanes_play(Model *m, uint32_t number, uint32_t warp, uint32_t mask)
{
    const Step *step = &m->step[number];
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t thread = warp * LANES + lane, other = warp * LANES;
        uint32_t at = step_place(step, m->block, thread);
        if (!(mask >> lane & 1)) continue;
        while (!(mask >> other % LANES & 1) || step_place(step, m->block, other) != at)
            other++;
        for (uint32_t k = 0; k < step->count; k++) {
            uint64_t mine = step_value(step, thread, k), theirs = step_value(step, other, k);
            if (memcmp(&mine, &theirs, step->element) == 0) continue;
            race_finding(m, "WAW", 1, number, other, 1, number, at + k * step->element);
            return;
        }
    }
}

/* The words of a warp's access, before it is done. */
static void access_play(Model *m, uint32_t number, uint32_t warp, uint32_t mask, int kind)
{
    const Step *step = &m->step[number];
    uint32_t bytes = step->element * step->count, before = UINT32_MAX;
    int told = 0;
    if (step->act == STORE) lanes_play(m, number, warp, mask);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t thread = warp * LANES + lane, from = step_place(step, m->block, thread);
        if (!(mask >> lane & 1) || (kind == 0 && from == before)) continue;
        before = from;
        for (uint32_t at = from; at < from + bytes; at += WORD) {
            Word *w = step->global ? &m->table[at / WORD % TABLE] : &m->word[at / WORD];
            if (step->global && w->number != at / WORD + 1)
                *w = (Word){.number = at / WORD + 1, .other = NOBODY};
            const unsigned char *host = (step->global ? m->global : m->shared) + at;
            told |= word_play(m, w, number, thread, at, at - from, kind, at, host, told);
            if (step->global) blocks_play(m, number, thread, at, at - from);
        }
    }
}

static void data_store(Model *m, uint32_t number, uint32_t warp, uint32_t mask)
{
    const Step *step = &m->step[number];
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t thread = warp * LANES + lane, at = step_place(step, m->block, thread);
        unsigned char *to = (step->global ? m->global : m->shared) + at;
        if (!(mask >> lane & 1)) continue;
        for (uint32_t k = 0; k < step->count; k++) {
            uint64_t value = step_value(step, thread, k);
            memcpy(to + k * step->element, &value, step->element);
        }
        if (!step->global) memset(m->written + at, 1, step->element * step->count);
    }
}

static void copies_land(Model *m, uint32_t to, uint32_t warp)
{
    uint32_t from = to;
    while (from > 0 && m->step[from - 1].act != WAIT && m->step[from - 1].act != BARRIER)
        from--;
    for (uint32_t s = from; s < to; s++)
        for (uint32_t lane = 0; lane < LANES && m->step[s].act == COPY; lane++) {
            uint32_t thread = warp * LANES + lane, at = step_place(&m->step[s], m->block, thread);
            if (!(m->step[s].mask >> lane & 1)) continue;
            access_play(m, s, warp, 1u << lane, 1);
            memset(m->shared + at, 0, m->step[s].element);
            memset(m->written + at, 1, m->step[s].element);
        }
}

static void step_play(Model *m, uint32_t number, uint32_t warp)
{
    const Step *step = &m->step[number];
    if (step->act == WAIT) {
        copies_land(m, number, warp);
    } else if (step->act == LOAD) {
        if (!step->global) init_play(m, number, warp, step->mask);
        access_play(m, number, warp, step->mask, 0);
    } else if (step->act == STORE) {
        access_play(m, number, warp, step->mask, 1);
        data_store(m, number, warp, step->mask);
    } else if (step->act == ATOMIC) {
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t at = step_place(step, m->block, warp * LANES + lane), old;
            unsigned char *to = (step->global ? m->global : m->shared) + at;
            if (!(step->mask >> lane & 1)) continue;
            if (!step->global && m->initcheck) {
                uint32_t have =
                    m->written[at] + m->written[at + 1] + m->written[at + 2] + m->written[at + 3];
                if (have < WORD) finding(m, 0, "Uninitialized __shared__ memory read of 4 bytes");
            }
            memcpy(&old, to, WORD);
            old += step_value(step, warp * LANES + lane, 0);
            memcpy(to, &old, WORD);
            if (!step->global) memset(m->written + at, 1, WORD);
        }
        access_play(m, number, warp, step->mask, 2);
    }
}

static void block_play(Model *m, uint32_t steps, uint32_t warps)
{
    m->epoch++;
    memset(m->shared, 0xff, sizeof m->shared);
    memset(m->written, 0, sizeof m->written);
    for (uint32_t from = 0; from < steps;) {
        uint32_t to = from;
        while (to < steps && m->step[to].act != BARRIER)
            to++;
        for (uint32_t warp = 0; warp < warps; warp++)
            for (uint32_t s = from; s < to; s++)
                step_play(m, s, warp);
        m->epoch++;
        from = to + 1;
    }
}

static void blocks_judge(Model *m)
{
    uint64_t found = 0;
    for (uint32_t i = 0; i < GLOBAL / WORD; i++) {
        const Side *r = &m->reader[i], *w = &m->writer[i];
        int writes = w->many && m->values[i] == 2;
        int reads = r->block && w->block && (r->many || w->many || r->block != w->block);
        char text[512], second[32] = "other blocks";
        if (!w->block || (!writes && !reads)) continue;
        if (!w->many && !r->many) snprintf(second, sizeof second, "block (%u,0,0)", r->block - 1);
        snprintf(text, sizeof text,
                 "Race reported between Write access at k.cu:%u by block (%u,0,0) and %s access at "
                 "k.cu:%u by %s on __global__ memory: nothing orders the blocks of a launch 0x%x",
                 w->step, w->block - 1, writes ? "Write" : "Read", writes ? w->step : r->step,
                 second, i * WORD);
        if (!found++ && !m->findings) snprintf(m->first, sizeof m->first, "%s", text);
    }
    m->findings += found;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static Step step_draw(uint32_t *state, int global, int copies)
{
    static const uint32_t SIZES[][2] = {{4, 1}, {4, 1}, {4, 4}, {4, 2},
                                        {8, 1}, {2, 1}, {1, 1}, {2, 2}};
    static const uint32_t MASKS[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, 0xffff,
                                     0x0ff0,     1,          0xaaaaaaaa};
    uint32_t kind = dice(state, 20);
    const uint32_t *size = SIZES[dice(state, sizeof SIZES / sizeof *SIZES)];
    Step step = {.global = global && dice(state, 3) != 0, .element = size[0], .count = size[1]};
    step.act = kind < 9    ? LOAD
               : kind < 14 ? STORE
               : kind < 16 ? ATOMIC
               : kind < 18 ? BARRIER
                           : COPY;
    if (step.act == COPY && !copies) step.act = BARRIER;
    if (step.act == ATOMIC || step.act == COPY) step.count = 1, step.element = WORD;
    if (step.act == COPY) step.global = 0, step.element = 4u << dice(state, 3);
    uint32_t bytes = step.element * step.count, way = dice(state, 8);
    step.lane_stride = way < 4 ? bytes : way == 4 ? 0 : way == 5 ? bytes * 3 : way == 6 ? 68 : 4;
    step.warp_stride = dice(state, 2) ? bytes * LANES : dice(state, 3) * 64;
    step.block_stride = step.global ? dice(state, 4) * 0x4000 / 4 * dice(state, 3) : 0;
    step.at = dice(state, 4) * 256 + dice(state, 4) * bytes;
    if (step.global) step.at += dice(state, 3) * TABLE * WORD;
    step.mask = MASKS[dice(state, sizeof MASKS / sizeof *MASKS)];
    step.value = dice(state, 3), step.values = dice(state, 3) ? 0 : 31;
    return step;
}

static void step_write(char *text, size_t room, const Step *step, uint32_t number)
{
    static const char *const VECTOR[] = {[1] = "", [2] = ".v2", [4] = ".v4"};
    static const char *const TYPE[] = {
        [1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64", [16] = "b128"};
    char access[400], list[64] = "%r20";
    const char *space = step->global ? "global" : "shared",
               *address = step->global ? "%rd5" : "%r12";
    if (step->act == BARRIER) snprintf(text, room, ".loc 1 %u 0\nbar.sync 0;\n", number + 1);
    if (step->act == WAIT) snprintf(text, room, ".loc 1 %u 0\ncp.async.wait_all;\n", number + 1);
    if (step->act == BARRIER || step->act == WAIT) return;
    if (step->element == 8) snprintf(list, sizeof list, "%%rd20");
    if (step->count == 2) snprintf(list, sizeof list, "{%%r20,%%r21}");
    if (step->count == 4) snprintf(list, sizeof list, "{%%r20,%%r21,%%r22,%%r23}");
    const char *vector = VECTOR[step->count], *type = TYPE[step->element];
    if (step->act == LOAD)
        snprintf(access, sizeof access, "ld.%s%s.%s %s, [%s]", space, vector, type, list, address);
    if (step->act == STORE)
        snprintf(access, sizeof access, "st.%s%s.%s [%s], %s", space, vector, type, address, list);
    if (step->act == ATOMIC)
        snprintf(access, sizeof access, "atom.%s.add.u32 %%r24, [%s], %%r20", space, address);
    if (step->act == COPY)
        snprintf(access, sizeof access, "cp.async.ca.shared.global [%%r12], [%%rd2], %u",
                 step->element);
    snprintf(text, room,
             ".loc 1 %u 0\nmad.lo.u32 %%r10, %%r3, %u, %u; mad.lo.u32 %%r10, %%r4, %u, %%r10; "
             "mad.lo.u32 %%r10, %%r2, %u, %%r10; and.b32 %%r10, %%r10, %u; "
             "add.u32 %%r12, %%r5, %%r10; cvt.u64.u32 %%rd4, %%r10; add.u64 %%rd5, %%rd1, %%rd4; "
             "shr.u32 %%r13, %u, %%r3; and.b32 %%r13, %%r13, 1; setp.ne.u32 %%p1, %%r13, 0; "
             "and.b32 %%r20, %%r3, %u; add.u32 %%r20, %%r20, %u; add.u32 %%r21, %%r20, 1; "
             "add.u32 %%r22, %%r20, 2; add.u32 %%r23, %%r20, 3; cvt.u64.u32 %%rd20, %%r20;\n"
             "@%%p1 %s;\n",
             number + 1, step->lane_stride, step->at, step->warp_stride, step->block_stride,
             ((step->global ? GLOBAL : SHARED) - 1) & ~(step->element * step->count - 1),
             step->mask, step->values, step->value, access);
}

static uint32_t steps_draw(Step *step, uint32_t *state, int global, int copies)
{
    uint32_t steps = 4 + dice(state, MOST_STEPS - 6);
    int waiting = 0;
    for (uint32_t s = 0; s < steps; s++) {
        step[s] = step_draw(state, global, copies);
        waiting |= step[s].act == COPY;
        if (waiting && (step[s].act == BARRIER || s + 2 >= steps)) step[s].act = WAIT, waiting = 0;
        if (waiting && step[s].act != COPY && dice(state, 3) == 0) step[s].act = WAIT, waiting = 0;
    }
    return steps;
}

static void kernel_write(char *text, size_t room, const Step *step, uint32_t steps)
{
    size_t used = (size_t)snprintf(
        text, room,
        HEAD ".file 1 \"k.cu\"\n.visible .entry k(.param .u64 x, .param .u64 zeros)\n{\n"
             ".shared .align 16 .b8 s[%d];\n.reg .b32 %%r<30>; .reg .b64 %%rd<30>; .reg .pred "
             "%%p<3>;\nld.param.u64 %%rd1, [x]; ld.param.u64 %%rd2, [zeros];\n"
             "mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ctaid.x; and.b32 %%r3, %%r1, 31; "
             "shr.u32 %%r4, %%r1, 5; mov.u32 %%r5, s;\n",
        SHARED + PAST_END);
    for (uint32_t s = 0; s < steps; s++) {
        step_write(text + used, room - used, &step[s], s);
        used += strlen(text + used);
    }
    snprintf(text + used, room - used, "ret;\n}\n");
}

/* Does the simulator's text say what the model's does?  Its lines may be wrapped in other words. */
static int texts_agree(const char *text, const char *model, uint64_t base)
{
    char want[512];
    snprintf(want, sizeof want, "%s", model);
    char *at = strstr(want, " 0x");
    if (!at) return strstr(text, want) != NULL;
    uint64_t offset = strtoull(at + 3, NULL, 16);
    int global = strstr(want, "__global__") != NULL;
    char number[32];
    *at = 0;
    snprintf(number, sizeof number, "0x%llx", (unsigned long long)(offset + (global ? base : 0)));
    return strstr(text, want) && strstr(text, number);
}

/* Between blocks, the model knows only kernels that store whole words. */
static int stores_parts(const Step *step, uint32_t steps)
{
    for (uint32_t s = 0; s < steps; s++)
        if (step[s].global && step[s].act == STORE && step[s].element < WORD) return 1;
    return 0;
}

static void kernel_judge(uint32_t seed, int global, int initcheck, uint32_t warps, int threads)
{
    static Model model;
    static char text[1 << 16];
    Step step[MOST_STEPS] = {{0}};
    uint32_t state = seed * 2654435761u + 1, steps = steps_draw(step, &state, global, !global);
    uint32_t blocks = global && !stores_parts(step, steps) ? BLOCKS : 1;
    Error error = {""};
    SimtOptions options = {
        .threads = threads, .initcheck = initcheck, .init_at_read = 1, .racecheck = 1};
    SimtGpu *gpu = simt_open(&SMALL, &options, &error);
    SimtResult result;
    memset(&model, 0, sizeof model);
    model.step = step, model.initcheck = initcheck;
    for (uint32_t i = 0; i < TABLE; i++)
        model.table[i].other = NOBODY;
    struct {
        uint64_t x, zeros;
    } params;
    params.x = device_data(gpu, model.global, GLOBAL);
    params.zeros = device_data(gpu, model.global, 64);
    kernel_write(text, sizeof text, step, steps);
    if (run(gpu, text, blocks, warps * LANES, 0, &params, sizeof params, &result) != 0)
        fail_msg("seed %u: %s\n%s", seed, result.report.text, text);
    for (; model.block < blocks; model.block++)
        block_play(&model, steps, warps);
    blocks_judge(&model);
    if (result.findings != model.findings ||
        (model.findings && !texts_agree(result.report.text, model.first, params.x)))
        fail_msg("seed %u, level %d: %llu findings, the model %llu:\n%s\nthe model: %s\n%s", seed,
                 exec_level, (unsigned long long)result.findings,
                 (unsigned long long)model.findings, result.report.text, model.first, text);
    simt_close(gpu);
}

static void shared_memory_races_equal_the_reference_model(void **state)
{
    (void)state;
    for (exec_level = 0; exec_level <= 2; exec_level++)
        for (uint32_t seed = 1; seed <= 400; seed++)
            kernel_judge(seed, 0, seed % 2 == 0, WARPS, 1);
    exec_level = 2;
}

static void global_memory_races_equal_the_reference_model(void **state)
{
    (void)state;
    for (exec_level = 0; exec_level <= 2; exec_level++)
        for (uint32_t seed = 1; seed <= 400; seed++)
            kernel_judge(seed, 1, 0, 1 + seed % WARPS, 1);
    exec_level = 2;
}

/* With one warp per block, there are hazards between blocks only, and results do not depend on host
 * threads. */
static void host_threads_do_not_show(void **state)
{
    (void)state;
    for (uint32_t seed = 1000; seed <= 1200; seed++)
        kernel_judge(seed, 1, 0, 1, 3);
}

/* ---- which lines a race between blocks names ------------------------------------------------- */

/* One thread of `block` reads or writes the word, on line `line` of k.cu, in the order of the
 * list, which a line 0 ends. */
typedef struct Touch {
    uint32_t line, block;
    char act; /* r, w */
} Touch;

/* A loop comes by all lines once for each touch, so that a later line may be the first. */
static void touches_write(char *text, size_t room, const Touch *touch, uint32_t touches, int fence)
{
    size_t used = (size_t)snprintf(
        text, room,
        HEAD ".file 1 \"k.cu\"\n.visible .entry k(.param .u64 x)\n{\n"
             ".reg .b32 %%r<9>; .reg .b64 %%rd<3>; .reg .pred %%p<3>;\n"
             "ld.param.u64 %%rd1, [x]; mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, 0;\n%s\nLOOP:\n",
        fence ? "membar.gl;" : "");
    for (uint32_t line = 1; line <= 9; line++)
        for (uint32_t i = 0; i < touches; i++) {
            if (touch[i].line != line) continue;
            used += (size_t)snprintf(
                text + used, room - used,
                ".loc 1 %u 0\nsetp.eq.u32 %%p1, %%r2, %u; setp.eq.and.u32 %%p1, %%r1, %u, %%p1;\n"
                "%s\n",
                line, i, touch[i].block,
                touch[i].act == 'r' ? "@%p1 ld.global.u32 %r3, [%rd1];"
                                    : "add.u32 %r4, %r1, 7; @%p1 st.global.u32 [%rd1], %r4;");
        }
    snprintf(text + used, room - used,
             ".loc 1 10 0\nadd.u32 %%r2, %%r2, 1; setp.lt.u32 %%p2, %%r2, %u; @%%p2 bra LOOP;\n"
             "ret;\n}\n",
             touches);
}

static void touches_judge(const Touch *touch, int fence, const char *want)
{
    static char text[1 << 14];
    uint32_t touches = 0;
    while (touch[touches].line)
        touches++;
    touches_write(text, sizeof text, touch, touches, fence);
    for (int threads = 1; threads <= 3; threads += 2) {
        Error error = {""};
        SimtOptions options = {.threads = threads, .racecheck = 1};
        SimtGpu *gpu = simt_open(&SMALL, &options, &error);
        SimtResult result;
        uint64_t x = device_data(gpu, "\1\2\3", 4);
        if (run(gpu, text, BLOCKS, 1, 0, &x, sizeof x, &result) != 0)
            fail_msg("%s\n%s", result.report.text, text);
        assert_int_equal(result.findings > 0, *want != 0);
        if (*want && !strstr(result.report.text, want))
            fail_msg("wanted: %s\ntold: %s", want, result.report.text);
        simt_close(gpu);
    }
}

#define UNORDERED " on __global__ memory: nothing orders the blocks of a launch"
#define UNFENCED                                                                                   \
    " on __global__ memory: no fence with an atomic or a flag after it orders the two blocks"

/* Without fences: the lowest block that writes, its lowest line, whichever came first; then, where
 * others write other values, that line again, or the lowest line of the lowest block that reads. */
static void the_lowest_line_of_the_lowest_block_is_reported(void **state)
{
    static const struct {
        Touch touch[6];
        const char *want;
    } CASES[] = {
        {{{5, 0, 'w'}, {3, 0, 'w'}, {8, 1, 'r'}, {6, 1, 'r'}},
         "Write access at k.cu:3 by block (0,0,0) and Read access at k.cu:6 by block "
         "(1,0,0)" UNORDERED},
        {{{2, 2, 'w'}, {5, 1, 'w'}, {4, 1, 'w'}},
         "Write access at k.cu:4 by block (1,0,0) and Write access at k.cu:4 by other "
         "blocks" UNORDERED},
        {{{1, 2, 'r'}, {7, 0, 'r'}, {4, 1, 'w'}},
         "Write access at k.cu:4 by block (1,0,0) and Read access at k.cu:7 by other "
         "blocks" UNORDERED},
        {{{9, 0, 'r'}, {2, 2, 'w'}},
         "Write access at k.cu:2 by block (2,0,0) and Read access at k.cu:9 by block "
         "(0,0,0)" UNORDERED},
        {{{2, 1, 'w'}, {1, 1, 'r'}}, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        touches_judge(CASES[i].touch, 0, CASES[i].want);
}

/* With fences blocks run in order, and the last access before is named: the last write, or before
 * a write the last read. */
static void the_last_line_before(void **state)
{
    static const struct {
        Touch touch[6];
        const char *want;
    } CASES[] = {
        {{{4, 0, 'w'}, {7, 1, 'r'}},
         "Write access at k.cu:4 by block (0,0,0) and Read access at k.cu:7" UNFENCED},
        {{{4, 0, 'w'}, {2, 0, 'w'}, {7, 1, 'w'}},
         "Write access at k.cu:2 by block (0,0,0) and Write access at k.cu:7" UNFENCED},
        {{{8, 0, 'r'}, {9, 0, 'r'}, {3, 1, 'w'}},
         "Read access at k.cu:9 by block (0,0,0) and Write access at k.cu:3" UNFENCED},
        {{{8, 0, 'r'}, {6, 1, 'r'}, {3, 2, 'w'}},
         "Read access at k.cu:6 by block (1,0,0) and Write access at k.cu:3" UNFENCED},
        {{{5, 1, 'w'}, {1, 1, 'r'}, {3, 2, 'r'}, {2, 2, 'w'}},
         "Write access at k.cu:5 by block (1,0,0) and Read access at k.cu:3" UNFENCED},
        {{{2, 2, 'w'}, {1, 2, 'r'}}, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        touches_judge(CASES[i].touch, 1, CASES[i].want);
}

/* ---- bytes of a word ------------------------------------------------------------------------- */

/* Each lane reads the byte of its warp in its lane's word, and writes the byte of warp
 * `warp * factor`: how many hazards? */
static uint64_t bytes_found(int factor)
{
    char text[2000];
    Error error = {""};
    SimtOptions options = {.racecheck = 1};
    SimtGpu *gpu = simt_open(&SMALL, &options, &error);
    SimtResult result;
    uint64_t x = device_data(gpu, "\1\2\3", 4);
    snprintf(text, sizeof text,
             HEAD ".visible .entry k(.param .u64 x)\n{\n.shared .align 4 .b8 s[128];\n"
                  ".reg .b32 %%r<9>; .reg .b16 %%h<3>;\nmov.u32 %%r1, %%tid.x; mov.u32 %%r2, s;\n"
                  "shr.u32 %%r3, %%r1, 5; and.b32 %%r4, %%r1, 31; mad.lo.u32 %%r2, %%r4, 4, %%r2;\n"
                  "add.u32 %%r5, %%r2, %%r3; ld.shared.u8 %%h1, [%%r5]; cvt.u16.u32 %%h2, %%r1;\n"
                  "mad.lo.u32 %%r6, %%r3, %d, %%r2; st.shared.u8 [%%r6], %%h2;\nret;\n}\n",
             factor);
    if (run(gpu, text, 1, WARPS * LANES, 0, &x, sizeof x, &result) != 0)
        fail_msg("%s\n%s", result.report.text, text);
    simt_close(gpu);
    return result.findings;
}

/* As histograms of bytes have it: warps that share words, and no byte. */
static void each_warp_its_byte_of_a_word(void **state)
{
    (void)state;
    assert_int_equal(bytes_found(1), 0);
    assert_true(bytes_found(0) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_memory_races_equal_the_reference_model),
        cmocka_unit_test(global_memory_races_equal_the_reference_model),
        cmocka_unit_test(host_threads_do_not_show),
        cmocka_unit_test(the_lowest_line_of_the_lowest_block_is_reported),
        cmocka_unit_test(the_last_line_before),
        cmocka_unit_test(each_warp_its_byte_of_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
