/* call_site.c - reads the lines of active calls from the program's DWARF, by libdw. */
#include "common/base/call_site.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES = 64 };

/* The program's own file has its debug information. */
static int no_other_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                         const char *file, const char *link, GElf_Word check, char **found)
{
    (void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)check;
    *found = NULL;
    return -1;
}

static Dwfl *process_open(void)
{
    static const Dwfl_Callbacks CALLBACKS = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = no_other_file};
    Dwfl *dwfl = dwfl_begin(&CALLBACKS);
    if (!dwfl) return NULL;
    dwfl_report_begin(dwfl);
    if (dwfl_linux_proc_report(dwfl, getpid()) == 0 && dwfl_report_end(dwfl, NULL, NULL) == 0)
        return dwfl;
    dwfl_end(dwfl);
    return NULL;
}

/* Is it code of the host program, and not of a header of the toolkit or of this project? */
static int is_own(const char *stub, const char *function, const char *file)
{
    size_t length = stub ? strlen(stub) : 0, end = strlen(file);
    if (strstr(file, "/include/") || strstr(file, ".stub.c") || strstr(file, ".hpp")) return 0;
    if (strstr(file, "common/cuda/cublas/")) return 0;
    if (end > 2 && !strcmp(file + end - 2, ".c")) return 0;
    if (!function) return 1;
    if (strstr(function, "__device_stub")) return 0;
    return !length || strncmp(function, stub, length) ||
           (function[length] && function[length] != '<');
}

static int text_place(const char *file, int line, char *text, size_t bytes)
{
    const char *slash = strrchr(file, '/');
    snprintf(text, bytes, "%s:%d", slash ? slash + 1 : file, line);
    return 1;
}

static int number_of(Dwarf_Die *die, unsigned name, Dwarf_Word *value)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, value) == 0;
}

static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

/* The calls at `address` from the innermost inlined one outwards; 1 when one is of the program. */
static int calls_find(Dwfl_Module *module, Dwarf_Addr address, const char *stub, char *text,
                      size_t bytes)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias), *inner = NULL, *scope = NULL;
    Dwfl_Line *at = dwfl_module_getsrc(module, address);
    int line = 0, found = 0;
    const char *file = at ? dwfl_lineinfo(at, NULL, &line, NULL, NULL, NULL) : NULL;
    Dwarf_Files *files;
    size_t count;
    if (!unit || !file || dwarf_getsrcfiles(unit, &files, &count) != 0) return 0;
    if (dwarf_getscopes(unit, address - bias, &inner) <= 0) return 0;
    int scopes = dwarf_getscopes_die(inner, &scope); /* its parents: the inlined calls around it */
    for (int i = 0; i < scopes && !found && file; i++) {
        int tag = dwarf_tag(&scope[i]);
        Dwarf_Word call_file, call_line;
        if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
        if (is_own(stub, name_of(&scope[i]), file)) found = text_place(file, line, text, bytes);
        if (tag == DW_TAG_subprogram || !number_of(&scope[i], DW_AT_call_file, &call_file) ||
            !number_of(&scope[i], DW_AT_call_line, &call_line))
            break;
        file = dwarf_filesrc(files, call_file, NULL, NULL), line = (int)call_line;
    }
    free(scope), free(inner);
    return found;
}

void call_site_find(const char *stub, char *text, size_t bytes)
{
    static Dwfl *dwfl;
    static int is_open;
    void *frame[FRAMES];
    int frames = backtrace(frame, FRAMES);
    *text = '\0';
    if (!is_open) dwfl = process_open(), is_open = 1;
    Dwfl_Module *own = dwfl ? dwfl_addrmodule(dwfl, (Dwarf_Addr)(uintptr_t)process_open) : NULL;
    for (int i = 1; i < frames && own; i++) {
        Dwarf_Addr address = (Dwarf_Addr)(uintptr_t)frame[i] - 1; /* in the call, not after it */
        if (dwfl_addrmodule(dwfl, address) == own && calls_find(own, address, stub, text, bytes))
            return;
    }
}
