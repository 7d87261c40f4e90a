#include "common/base/counters.h"

#define COUNTER_ADD(field, metric, about) to->field += from->field;

void counters_add(Counters *to, const Counters *from)
{
    COUNTERS(COUNTER_ADD)
}
