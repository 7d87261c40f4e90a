/* finding.c - sentences of a finding. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/operations/operation/diagnose.h"

void finding_say(Finding *finding, const char *format, ...)
{
    char sentence[sizeof finding->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    size_t used = strlen(finding->text);
    if (used + strlen(sentence) + 2 > sizeof finding->text) return;
    if (used) finding->text[used++] = ' ';
    memcpy(finding->text + used, sentence, strlen(sentence) + 1);
}

double output_bound(const Judgement *judged, size_t i)
{
    return verdict_bound(judged->precision, judged->magnitude[i], judged->terms[i]);
}
