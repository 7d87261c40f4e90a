/* see.c - the page's data as JSON, inserted into the frame that draws them. */
#include "autograder/see/see.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/files.h"
#include "autograder/text/text.h"

enum { LANES = 32, MOST_RUNS = 20000 };

static const char MARK[] = "/*DATA*/";

/* By lane: null for an idle lane.  Lanes at a constant distance, the usual case, are stored as the
 * first address and the distance. */
static json_t *addresses_make(const SimtSight *sight)
{
    int first = -1, regular = 1;
    int64_t step = 0, before = 0;
    for (int i = 0; i < LANES; i++) {
        if (!(sight->mask >> i & 1)) continue;
        int64_t address = (int64_t)sight->address[i];
        if (first < 0) first = i;
        if (i == first + 1) step = address - before;
        if (i > first && address != (int64_t)sight->address[first] + step * (i - first))
            regular = 0;
        before = address;
    }
    if (first < 0) return json_null();
    int64_t base = (int64_t)sight->address[first] - step * first;
    if (regular) return json_pack("{s:I, s:I}", "base", base, "step", step);
    json_t *each = json_array();
    for (int i = 0; i < LANES; i++)
        json_array_append_new(
            each, sight->mask >> i & 1 ? json_integer((json_int_t)sight->address[i]) : json_null());
    return each;
}

static json_t *sight_make(const SimtSight *sight)
{
    static const char *const KIND[] = {
        [SIGHT_GLOBAL] = "global",     [SIGHT_SHARED] = "shared", [SIGHT_LOCAL] = "local",
        [SIGHT_CONSTANT] = "constant", [SIGHT_ATOMIC] = "atomic", [SIGHT_BRANCH] = "branch"};
    if (sight->kind == SIGHT_BRANCH)
        return json_pack("{s:i, s:s, s:i, s:I, s:I}", "ins", (int)sight->instruction, "kind",
                         KIND[sight->kind], "warp", sight->warp, "mask", (json_int_t)sight->mask,
                         "taken", (json_int_t)sight->taken);
    return json_pack("{s:i, s:s, s:i, s:I, s:i, s:i, s:o}", "ins", (int)sight->instruction, "kind",
                     KIND[sight->kind], "warp", sight->warp, "mask", (json_int_t)sight->mask,
                     "store", sight->store, "bytes", sight->bytes, "at", addresses_make(sight));
}

/* Runs of elements with equal access counts: [first, elements, times] ... */
static json_t *runs_make(const uint16_t *times, uint64_t elements)
{
    json_t *runs = json_array();
    for (uint64_t i = 0, end; i < elements && json_array_size(runs) < MOST_RUNS; i = end) {
        for (end = i + 1; end < elements && times[end] == times[i];)
            end++;
        if (times[i])
            json_array_append_new(
                runs, json_pack("[I, I, i]", (json_int_t)i, (json_int_t)(end - i), times[i]));
    }
    return runs;
}

static json_t *array_make(const SimtTouched *touched)
{
    json_t *dim = json_array(), *axis = json_array();
    for (uint32_t i = 0; i < touched->array.rank; i++) {
        json_array_append_new(dim, json_integer((json_int_t)touched->array.dim[i]));
        json_array_append_new(axis, json_sprintf("%c", touched->array.axis[i]));
    }
    return json_pack("{s:s, s:o, s:o, s:I, s:o, s:o}", "name", touched->array.name, "dim", dim,
                     "axis", axis, "address", (json_int_t)touched->address, "reads",
                     runs_make(touched->reads, touched->elements), "writes",
                     runs_make(touched->writes, touched->elements));
}

static json_t *block_make(const SimtWatch *watch)
{
    json_t *sights = json_array(), *arrays = json_array();
    for (uint32_t i = 0; i < watch->sights; i++)
        json_array_append_new(sights, sight_make(&watch->sight[i]));
    for (uint32_t i = 0; i < watch->arrays; i++)
        json_array_append_new(arrays, array_make(&watch->touched[i]));
    return json_pack("{s:[i,i,i], s:o, s:I, s:o}", "block", (int)watch->block[0],
                     (int)watch->block[1], (int)watch->block[2], "sights", sights, "left_out",
                     (json_int_t)watch->left_out, "arrays", arrays);
}

/* One flag per instruction: whether a sight names it. */
static char *instructions_seen(const SimtProfile *profile)
{
    char *seen = calloc(profile->instructions + 1, 1);
    for (uint32_t i = 0; seen && i < profile->watches; i++)
        for (uint32_t k = 0; k < profile->watch[i].sights; k++)
            seen[profile->watch[i].sight[k].instruction] = 1;
    return seen;
}

/* By the number that sights use. */
static json_t *instructions_make(const SimtProfile *profile)
{
    json_t *all = json_object();
    char number[24], *seen = instructions_seen(profile);
    for (uint32_t i = 0; seen && i < profile->instructions; i++) {
        const SimtInstruction *in = &profile->instruction[i];
        if (!seen[i] || !in->opcode) continue;
        text_set(number, sizeof number, "%u", i);
        json_object_set_new(
            all, number,
            json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I}", "op", in->opcode, "file",
                      in->file, "line", (int)in->line, "runs", (json_int_t)in->warp_instructions,
                      "requests", (json_int_t)(in->requests + in->shared_requests), "sectors",
                      (json_int_t)in->sectors, "wavefronts", (json_int_t)in->wavefronts,
                      "divergent", (json_int_t)in->divergent));
    }
    free(seen);
    return all;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int see_has_line(const SeePage *page, int line)
{
    const SimtProfile *profile = page->profile;
    char *seen = instructions_seen(profile);
    int has = 0;
    for (uint32_t i = 0; seen && !has && i < profile->instructions; i++) {
        const SimtInstruction *in = &profile->instruction[i];
        has = seen[i] && in->opcode && (int)in->line == line &&
              !strcmp(in->file, name_of(page->source));
    }
    free(seen);
    return has;
}

static json_t *page_make(const SeePage *page, const char *source)
{
    const SimtProfile *profile = page->profile;
    json_t *blocks = json_array();
    for (uint32_t i = 0; i < profile->watches; i++)
        json_array_append_new(blocks, block_make(&profile->watch[i]));
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:[i,i,i], s:[i,i,i], s:o, s:o}", "lab",
                     page->lab, "about", page->about, "gpu", page->gpu, "kernel", profile->kernel,
                     "line", page->line, "file", name_of(page->source), "source", source, "grid",
                     (int)profile->grid[0], (int)profile->grid[1], (int)profile->grid[2], "threads",
                     (int)profile->threads[0], (int)profile->threads[1], (int)profile->threads[2],
                     "instructions", instructions_make(profile), "blocks", blocks);
}

/* The frame with `data` at its mark.  "<" is escaped, because in a string it could end the
 * script. */
static char *frame_fill(const char *frame, const char *data, const char *path, Error *error)
{
    const char *mark = strstr(frame, MARK);
    if (!mark) {
        error_set(error, "%s: there is no %s for the data: fetch the file again", path, MARK);
        return NULL;
    }
    size_t bytes = strlen(frame) + 1, at = (size_t)(mark - frame);
    for (const char *c = data; *c; c++)
        bytes += *c == '<' ? 6 : 1;
    char *text = malloc(bytes);
    if (!text) {
        error_set(error, "out of memory");
        return NULL;
    }
    memcpy(text, frame, at);
    for (const char *c = data; *c; c++) {
        if (*c == '<')
            memcpy(text + at, "\\u003c", 6), at += 6;
        else
            text[at++] = *c;
    }
    strcpy(text + at, mark + strlen(MARK));
    return text;
}

int see_write(const char *path, const SeePage *page, Error *error)
{
    char *source = file_text(page->source, error), *frame = file_text(page->frame, error),
         *data = NULL, *text = NULL;
    json_t *tree = source && frame ? page_make(page, source) : NULL;
    if (tree) data = json_dumps(tree, JSON_COMPACT | JSON_ENSURE_ASCII);
    if (tree && !data) error_set(error, "out of memory");
    if (source && frame && !tree) error_set(error, "%s: not UTF-8", page->source);
    if (data) text = frame_fill(frame, data, page->frame, error);
    int status = text ? file_write(path, text, error) : -1;
    json_decref(tree);
    free(source), free(frame), free(data), free(text);
    return status;
}
