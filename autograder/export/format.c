#include "autograder/export/format.h"

#include <string.h>

#include "autograder/text/text.h"

static const Format FORMATS[] = {
    {"terminal", "the tables that make grade prints", terminal_write, NULL},
    {"html", "one self-contained HTML page", html_write, NULL},
    {"junit", "JUnit XML: Jenkins, GitLab and other CI", junit_write, NULL},
    {"tap", "TAP 14: prove and similar programs", tap_write, NULL},
    {"gradescope", "Gradescope's results.json", gradescope_write, NULL},
    {"autolab", "Autolab's last lines of output", autolab_write, NULL},
    {"classroom", "GitHub Classroom's result of a grader, in base64", classroom_write, NULL},
    {"prairielearn", "PrairieLearn's results.json", prairielearn_write, NULL},
    {"submitty", "Submitty's validation_results.json", submitty_write, NULL},
    {"class", "a class as an HTML page: results by lab and by student", NULL, class_page_write},
    {"table", "a class with all that is known of each mark (CSV)", NULL, table_write},
    {"blackboard", "a class, for import by Blackboard (CSV)", NULL, blackboard_write},
    {"brightspace", "a class, for import by Brightspace (CSV)", NULL, brightspace_write},
    {"canvas", "a class, for import by Canvas (CSV)", NULL, canvas_write},
    {"moodle", "a class, for import by Moodle's gradebook (CSV)", NULL, moodle_write},
    {"moodle-worksheet", "a class, for one assignment's worksheet in Moodle (CSV)", NULL,
     moodle_worksheet_write},
    {"openedx", "a class, for bulk import by Open edX (CSV)", NULL, openedx_write},
};
enum { FORMAT_COUNT = sizeof FORMATS / sizeof *FORMATS };

const Format *format_find(const char *name, Error *error)
{
    char known[300] = "";
    for (int i = 0; i < FORMAT_COUNT; i++) {
        if (!strcmp(FORMATS[i].name, name)) return &FORMATS[i];
        text_add(known, sizeof known, "%s%s", i ? ", " : "", FORMATS[i].name);
    }
    error_set(error, "there is no format '%.40s'; there are: %s", name, known);
    return NULL;
}

void format_list(FILE *stream)
{
    for (int i = 0; i < FORMAT_COUNT; i++)
        fprintf(stream, "  %-16s %s\n", FORMATS[i].name, FORMATS[i].about);
}
