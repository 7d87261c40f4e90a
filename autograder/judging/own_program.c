#include "autograder/judging/own_program.h"

#include <stdlib.h>

#include "autograder/lab/sealed.h"
#include "autograder/text/text.h"

static void broken(Build *build, const Error *error)
{
    *build = (Build){.status = BUILD_BROKEN};
    text_set(build->message, sizeof build->message, "%s", error->text);
}

static void build_sealed(const Toolchain *toolchain, const Lab *lab, const char *folder,
                         OwnProgram which, BuildKind kind, Build *build)
{
    Error error;
    size_t bytes;
    char *object = sealed_part(folder, which == OWN_BASELINE ? SEALED_BASELINE : SEALED_REFERENCE,
                               &bytes, &error);
    if (object && !sealed_check_machine(object, bytes, &error))
        build_program(toolchain, object, bytes, lab->ini.entries, kind, build);
    else
        broken(build, &error);
    free(object);
}

int own_program_source(const char *root, const Lab *lab, OwnProgram which, char *path, size_t bytes,
                       Error *error)
{
    if (which == OWN_BASELINE) return lab_baseline_path(root, lab, path, bytes, error);
    lab_solution_path(root, lab, path, bytes);
    return 0;
}

void own_program_build(const Toolchain *toolchain, const Lab *lab, OwnProgram which, BuildKind kind,
                       Build *build)
{
    char folder[1024], source[1024];
    Error error;
    text_set(folder, sizeof folder, "%s/labs/%s", toolchain->root, lab->name);
    if (sealed_exists(folder))
        build_sealed(toolchain, lab, folder, which, kind, build);
    else if (own_program_source(toolchain->root, lab, which, source, sizeof source, &error))
        broken(build, &error);
    else
        build_submission(toolchain, NULL, source, lab->ini.entries, lab_ini_cc(&lab->ini), kind,
                         build);
}
