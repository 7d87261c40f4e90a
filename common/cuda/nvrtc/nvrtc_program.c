/* nvrtc_program.c - programs: source, headers, results and names. */
#include "common/cuda/nvrtc/nvrtc_program.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A function of the C++ runtime library, with which CUDA programs are linked. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *bytes, int *status);

nvrtcResult nvrtcVersion(int *major, int *minor);
nvrtcResult nvrtcCreateProgram(nvrtcProgram *made, const char *source, const char *name, int count,
                               const char *const *headers, const char *const *names);
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program);
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options);
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *bytes);
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ptx);
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes);
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *ptx);
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes);
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log);
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *expression);
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *expression, const char **name);
nvrtcResult nvrtcGetNumSupportedArchs(int *count);
nvrtcResult nvrtcGetSupportedArchs(int *archs);
const char *nvrtcGetErrorString(nvrtcResult result);

nvrtcResult nvrtcVersion(int *major, int *minor)
{
    if (!major || !minor) return NVRTC_ERROR_INVALID_INPUT;
    *major = 13, *minor = 0;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    if (!program || !*program) return NVRTC_ERROR_INVALID_PROGRAM;
    nvrtcProgram p = *program;
    for (int i = 0; i < p->headers; i++)
        free(p->header[i].name), free(p->header[i].text);
    for (int i = 0; i < p->expressions; i++)
        free(p->expression[i]), free(p->lowered[i]);
    free(p->header), free(p->expression), free(p->lowered);
    free(p->name), free(p->source), free(p->log), free(p->ptx), free(p);
    *program = NULL;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *made, const char *source, const char *name, int count,
                               const char *const *headers, const char *const *names)
{
    if (!made || !source || count < 0 || (count && (!headers || !names)))
        return NVRTC_ERROR_INVALID_INPUT;
    nvrtcProgram p = calloc(1, sizeof *p);
    if (p)
        *p = (struct _nvrtcProgram){.name = strdup(name && *name ? name : "default_program"),
                                    .source = strdup(source),
                                    .log = strdup("")};
    if (p) p->header = calloc((size_t)count + 1, sizeof *p->header);
    *made = p;
    int failed = !p || !p->name || !p->source || !p->log || !p->header;
    for (int i = 0; i < count && !failed; i++) {
        p->header[p->headers++] = (NvrtcFile){strdup(names[i]), strdup(headers[i])};
        failed = !p->header[i].name || !p->header[i].text;
    }
    if (!failed) return NVRTC_SUCCESS;
    nvrtcDestroyProgram(made);
    return NVRTC_ERROR_OUT_OF_MEMORY;
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *expression)
{
    if (!program || !expression) return NVRTC_ERROR_INVALID_INPUT;
    if (program->ptx) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    size_t count = (size_t)program->expressions + 1;
    char **grown = realloc(program->expression, count * sizeof *grown);
    if (grown) program->expression = grown;
    char **lowered = realloc(program->lowered, count * sizeof *lowered);
    if (lowered) program->lowered = lowered;
    char *copy = strdup(expression);
    if (!grown || !lowered || !copy) return free(copy), NVRTC_ERROR_OUT_OF_MEMORY;
    program->expression[count - 1] = copy, program->lowered[count - 1] = NULL;
    program->expressions++;
    return NVRTC_SUCCESS;
}

/* Whether two names are equal except for blanks, and for '&' before the first. */
static int names_equal(const char *expression, const char *name)
{
    while (*expression == '&' || isspace((unsigned char)*expression))
        expression++;
    for (;; expression++, name++) {
        while (isspace((unsigned char)*expression))
            expression++;
        while (isspace((unsigned char)*name))
            name++;
        if (*expression != *name) return 0;
        if (!*name) return 1;
    }
}

/* The name in a demangled function, without its return type and its parameters. */
static const char *name_of(char *full)
{
    char *start = full;
    int depth = 0;
    for (char *at = full; *at; at++) {
        depth += (*at == '<') - (*at == '>');
        if (depth == 0 && *at == ' ') start = at + 1;
        if (depth == 0 && *at == '(') {
            *at = '\0';
            break;
        }
    }
    return start;
}

/* Finds the kernels of the PTX whose source names were asked for. */
static void names_lower(nvrtcProgram program)
{
    static const char word[] = ".entry ";
    for (const char *at = strstr(program->ptx, word); at; at = strstr(at, word)) {
        char mangled[1024];
        at += sizeof word - 1;
        size_t length = strcspn(at, "( \n\t");
        if (length >= sizeof mangled) continue;
        snprintf(mangled, sizeof mangled, "%.*s", (int)length, at);
        char *full = __cxa_demangle(mangled, NULL, NULL, NULL);
        const char *name = full ? name_of(full) : mangled;
        for (int i = 0; i < program->expressions; i++)
            if (!program->lowered[i] && names_equal(program->expression[i], name))
                program->lowered[i] = strdup(mangled);
        free(full);
    }
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options)
{
    if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
    if (count < 0 || (count && !options)) return NVRTC_ERROR_INVALID_INPUT;
    nvrtcResult result = nvrtc_compile(program, count, options);
    if (result == NVRTC_SUCCESS) names_lower(program);
    return result;
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *expression, const char **name)
{
    if (!program || !expression || !name) return NVRTC_ERROR_INVALID_INPUT;
    if (!program->ptx) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    for (int i = 0; i < program->expressions; i++)
        if (!strcmp(program->expression[i], expression) && program->lowered[i]) {
            *name = program->lowered[i];
            return NVRTC_SUCCESS;
        }
    return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

static nvrtcResult text_size(const char *text, size_t *bytes)
{
    if (!text) return NVRTC_ERROR_INVALID_PROGRAM;
    if (!bytes) return NVRTC_ERROR_INVALID_INPUT;
    *bytes = strlen(text) + 1;
    return NVRTC_SUCCESS;
}

static nvrtcResult text_get(const char *text, char *to)
{
    if (!text) return NVRTC_ERROR_INVALID_PROGRAM;
    if (!to) return NVRTC_ERROR_INVALID_INPUT;
    memcpy(to, text, strlen(text) + 1);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *bytes)
{
    return text_size(program ? program->ptx : NULL, bytes);
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ptx)
{
    return text_get(program ? program->ptx : NULL, ptx);
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes)
{
    return nvrtcGetPTXSize(program, bytes);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *ptx)
{
    return nvrtcGetPTX(program, ptx);
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes)
{
    return text_size(program ? program->log : NULL, bytes);
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
    return text_get(program ? program->log : NULL, log);
}

/* Those of nvcc 13.0 for which a machine is described. */
static const int supported[] = {75, 80, 86, 89, 90};

nvrtcResult nvrtcGetNumSupportedArchs(int *count)
{
    if (!count) return NVRTC_ERROR_INVALID_INPUT;
    *count = (int)(sizeof supported / sizeof *supported);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *archs)
{
    if (!archs) return NVRTC_ERROR_INVALID_INPUT;
    memcpy(archs, supported, sizeof supported);
    return NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtcResult result)
{
    static const char *const names[] = {"NVRTC_SUCCESS",
                                        "NVRTC_ERROR_OUT_OF_MEMORY",
                                        "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                        "NVRTC_ERROR_INVALID_INPUT",
                                        "NVRTC_ERROR_INVALID_PROGRAM",
                                        "NVRTC_ERROR_INVALID_OPTION",
                                        "NVRTC_ERROR_COMPILATION",
                                        "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
                                        "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
                                        "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
                                        "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
                                        "NVRTC_ERROR_INTERNAL_ERROR"};
    return (unsigned)result < sizeof names / sizeof *names ? names[result] : "NVRTC_ERROR unknown";
}
