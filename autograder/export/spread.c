#include "autograder/export/spread.h"

void spread_write(FILE *stream, const SummaryLab *lab, double own)
{
    enum { STEP = 18, HIGH = 40 };
    size_t most = 1;
    int own_bin = own < 0 ? -1 : own >= 100 ? SUMMARY_BINS - 1 : (int)(own / 10);
    for (int i = 0; i < SUMMARY_BINS; i++)
        most = lab->bin[i] > most ? lab->bin[i] : most;
    fprintf(stream,
            "<svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
            "aria-label=\"spread\">",
            STEP * SUMMARY_BINS, HIGH + 14, STEP * SUMMARY_BINS, HIGH + 14);
    for (int i = 0; i < SUMMARY_BINS; i++) {
        int high = (int)((lab->bin[i] * HIGH + most - 1) / most);
        fprintf(stream, "<rect%s x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><title>%d",
                i == own_bin ? " class=\"own\"" : "", STEP * i, HIGH - high, STEP - 3,
                high ? high : 1, 10 * i);
        if (i < SUMMARY_BINS - 1) fprintf(stream, " to %d", 10 * i + 9);
        fprintf(stream, " %%: %zu</title></rect>", lab->bin[i]);
    }
    fprintf(stream, "<text x=\"0\" y=\"%d\">0 %%</text><text x=\"%d\" y=\"%d\">100 %%</text></svg>",
            HIGH + 13, STEP * (SUMMARY_BINS - 2), HIGH + 13);
}
