#include "autograder/judging/lab_programs.h"

#include <string.h>
#include <sys/stat.h>

#include "autograder/judging/own_program.h"
#include "autograder/judging/speed.h"
#include "autograder/sandbox/sandbox.h"
#include "autograder/text/text.h"
#include "common/base/intake.h"

void programs_find(LabPrograms *programs, const Toolchain *toolchain, const Lab *lab,
                   const char *folder, BuildKind kind)
{
    const char *source = lab->ini.source;
    char *name = programs->beneath;
    programs->toolchain = toolchain;
    programs->lab = lab;
    programs->folder = folder;
    programs->kind = kind;
    text_set(name, sizeof programs->beneath, "%s/%s", lab->name, source);
    if (!intake_exists(folder, name) && intake_exists(folder, source))
        text_set(name, sizeof programs->beneath, "%s", source);
    text_set(programs->source, sizeof programs->source, "%s/%s", folder, name);
}

static void *job_run(void *context)
{
    const ProgramJob *job = context;
    LabPrograms *programs = job->programs;
    const LabIni *ini = &programs->lab->ini;
    Build *build = &programs->build[job->slot];
    if (job->slot == SLOT_SUBMISSION)
        build_submission(programs->toolchain, programs->folder, programs->beneath, ini->entries,
                         lab_ini_cc(ini), programs->kind, build);
    else
        own_program_build(programs->toolchain, programs->lab,
                          job->slot == SLOT_BASELINE ? OWN_BASELINE : OWN_REFERENCE, BUILD_RUNNER,
                          build);
    return NULL;
}

/* Whether the reference solution itself is graded: two parallel builds of one file would both
 * compile it. */
static int is_the_key(const LabPrograms *programs)
{
    char path[1024];
    struct stat mine, key;
    return !own_program_source(programs->toolchain->root, programs->lab, OWN_REFERENCE, path,
                               sizeof path, NULL) &&
           !stat(programs->source, &mine) && !stat(path, &key) && mine.st_dev == key.st_dev &&
           mine.st_ino == key.st_ino;
}

void programs_begin(LabPrograms *programs)
{
    for (int i = 0; i < SESSION_RUNNERS; i++) {
        ProgramJob *job = &programs->job[i];
        int later = i == SLOT_REFERENCE && is_the_key(programs);
        *job = (ProgramJob){.programs = programs, .slot = i};
        job->threaded = !later && !pthread_create(&job->thread, NULL, job_run, job);
    }
}

void programs_wait(LabPrograms *programs, int slot)
{
    ProgramJob *job = &programs->job[slot];
    double start = sandbox_clock();
    if (job->done) return;
    if (job->threaded)
        pthread_join(job->thread, NULL);
    else
        job_run(job);
    job->done = 1;
    programs->waited += sandbox_clock() - start;
}

void programs_wait_all(LabPrograms *programs)
{
    for (int i = 0; i < SESSION_RUNNERS; i++)
        programs_wait(programs, i);
}

int programs_key_works(LabPrograms *programs)
{
    Build *key = &programs->build[SLOT_REFERENCE];
    programs_wait(programs, SLOT_REFERENCE);
    if (key->status == BUILD_OK) return 1;
    build_clear(key);
    job_run(&programs->job[SLOT_REFERENCE]);
    return key->status == BUILD_OK;
}

void programs_note(const LabPrograms *programs, Record *record)
{
    const Build *build = programs->build;
    text_set(record->submission_digest, sizeof record->submission_digest, "%s",
             build[SLOT_SUBMISSION].digest);
    text_set(record->baseline_digest, sizeof record->baseline_digest, "%s",
             build[SLOT_BASELINE].digest);
    text_set(record->reference_digest, sizeof record->reference_digest, "%s",
             build[SLOT_REFERENCE].digest);
}

void programs_clear(LabPrograms *programs)
{
    for (int i = 0; i < SESSION_RUNNERS; i++)
        build_clear(&programs->build[i]);
}
