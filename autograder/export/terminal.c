/* terminal.c - the output of make grade, from stored records. */
#include <stdlib.h>

#include "autograder/export/format.h"
#include "autograder/export/plain.h"
#include "autograder/record/report.h"
#include "autograder/record/score.h"

void terminal_write(FILE *stream, const Submission *submission)
{
    char *text = NULL, earned[32], possible[32];
    size_t bytes;
    FILE *report = open_memstream(&text, &bytes);
    if (!report) return;
    for (int i = 0; i < submission->records; i++)
        report_print(report, submission->record[i], REPORT_TABLES);
    fprintf(report, "total  %s/%s points\n", score_text(submission->points, earned),
            score_text(submission->possible, possible));
    if (!fclose(report)) plain_put(stream, text);
    free(text);
}
