/* source.c - where an instruction came from, and a kernel's plain name: what messages say. */
#include <stdio.h>
#include <string.h>

#include "common/simulator/core/kernel.h"

static const char *file_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static const PtxInstruction *origin_of(const SimtKernel *kernel, uint32_t from)
{
    return from < kernel->origins ? kernel->origin[from] : NULL;
}

static int is_of_the_toolkit(const char *path)
{
    return strstr(path, "/include/") || strstr(path, ".hpp");
}

/* The student's source line: for code of a toolkit header, the line that called it, through any
 * number of toolkit functions. */
static const char *source_file(const SimtKernel *kernel, const PtxInstruction *in, uint32_t *line)
{
    const PtxModule *ptx = kernel->module->ptx;
    if (!in || in->source.file >= ptx->files || in->source.line == 0) return NULL;
    const char *path = ptx->file[in->source.file];
    *line = in->source.line;
    for (const PtxSource *at = &in->source; at && path && is_of_the_toolkit(path);
         at = at->caller) {
        if (!at->inlined_line || at->inlined_file >= ptx->files) break;
        path = ptx->file[at->inlined_file], *line = at->inlined_line;
    }
    return file_name(path);
}

const char *source_caller(const SimtKernel *kernel, uint32_t from, uint32_t *line)
{
    const PtxModule *ptx = kernel->module->ptx;
    const PtxInstruction *in = origin_of(kernel, from);
    uint32_t own;
    const char *file = source_file(kernel, in, &own);
    *line = in ? in->source.inlined_line : 0;
    if (!file || !*line || *line == own || in->source.inlined_file >= ptx->files) return "";
    const char *path = ptx->file[in->source.inlined_file];
    return path && !is_of_the_toolkit(path) ? file_name(path) : "";
}

const char *source_line(const SimtKernel *kernel, uint32_t from, uint32_t *line)
{
    *line = 0;
    const char *file = source_file(kernel, origin_of(kernel, from), line);
    return file ? file : "";
}

void source_name(const SimtKernel *kernel, uint32_t from, char *text, size_t bytes)
{
    const PtxInstruction *in = origin_of(kernel, from), *before = in;
    uint32_t line;
    const char *file = source_file(kernel, in, &line);
    /* Code that nvcc made of several lines names none: the last line before it is near. */
    for (uint32_t k = from; !file && before && k-- > 0 && from - k < 100;) {
        before = origin_of(kernel, k);
        file = source_file(kernel, before, &line);
    }
    if (file)
        snprintf(text, bytes, "%s:%u%s", file, line, before == in ? "" : " or near");
    else if (in)
        snprintf(text, bytes, "PTX line %u", in->ptx_line);
    else
        snprintf(text, bytes, "an unknown line");
}
