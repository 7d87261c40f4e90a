#include "common/operations/calls/operation_call.h"

#include <stdlib.h>
#include <string.h>

/* GNU ld's symbols for the start and end of a section whose name is a C identifier. */
extern const OperationEntry __start_operation_entries[], __stop_operation_entries[];

void operation_call(const char *operation, const void *problem, void *const *tensor, void *stream)
{
    const OperationEntry *entry = __start_operation_entries;
    while (entry < __stop_operation_entries && strcmp(entry->operation, operation) != 0)
        entry++;
    if (entry == __stop_operation_entries) abort();
    entry->call(problem, tensor, stream);
}
