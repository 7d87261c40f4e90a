#include "autograder/class/basis.h"

#include <inttypes.h>
#include <string.h>

#include "autograder/text/files.h"
#include "autograder/text/text.h"

static uint64_t lab_digest(const char *root, const Lab *lab)
{
    char path[4096];
    uint64_t digest = DIGEST_START;
    text_set(path, sizeof path, "%s/labs/%s/lab.ini", root, lab->name);
    digest = digest_file(digest, path);
    lab_solution_path(root, lab, path, sizeof path);
    digest = digest_file(digest, path);
    text_set(path, sizeof path, "%s/solutions/%s/predict.ini", root, lab->name);
    digest = digest_file(digest, path);
    if (!lab_baseline_path(root, lab, path, sizeof path, NULL)) digest = digest_file(digest, path);
    return digest;
}

static uint64_t grader_digest(const char *build, const char *grade)
{
    char path[4096];
    uint64_t digest = digest_file(DIGEST_START, grade);
    text_set(path, sizeof path, "%s/bin/device", build);
    digest = digest_file(digest, path);
    text_set(path, sizeof path, "%s/lib/runner.a", build);
    digest = digest_file(digest, path);
    text_set(path, sizeof path, "%s/lib/runner-modules.a", build);
    return digest_file(digest, path);
}

void basis_of(const char *root, const char *build, const char *grade, const Lab *lab,
              char basis[BASIS_BYTES])
{
    text_set(basis, BASIS_BYTES, "%016" PRIx64 ":%016" PRIx64, lab_digest(root, lab),
             grader_digest(build, grade));
}

const char *basis_difference(const char *old, const char *now)
{
    enum { DIGITS = 16 };
    int is_lab = strncmp(old, now, DIGITS) != 0;
    int is_grader = strlen(old) < DIGITS || strcmp(old + DIGITS, now + DIGITS) != 0;
    return is_lab && is_grader ? "the lab and the grader"
           : is_lab            ? "the lab"
           : is_grader         ? "the grader"
                               : NULL;
}
