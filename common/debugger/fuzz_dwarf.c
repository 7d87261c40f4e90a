/* fuzz_dwarf - DWARF in hostile PTX, and expressions: `make fuzz`. */
#include <stdlib.h>
#include <string.h>

#include "common/debugger/expression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static int type_visit(void *context, const Variable *variable)
{
    char text[2000];
    ++*(int *)context;
    type_name(variable->type, text, sizeof text);
    type_describe(variable->type, text, sizeof text);
    return 0;
}

static void symbols_try(const char *text, size_t bytes)
{
    enum { LINES = 300 };
    Symbols symbols;
    SourceFrame frame[INLINE_DEPTH];
    int visited = 0;
    symbols_open(text, bytes, &symbols);
    for (uint32_t f = 0; f < symbols.functions && f < 4; f++)
        for (uint64_t line = 0; line < LINES; line += 7) {
            uint32_t count = symbols_frames(&symbols, symbols.function_name[f], line, frame);
            for (uint32_t i = 0; i < count; i++)
                symbols_variables(&symbols, frame[i].die, line, 1, type_visit, &visited);
        }
    symbols_type(&symbols, "Size");
    symbols_close(&symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1);
    Error error;
    if (!text) return 0;
    memcpy(text, data, bytes);
    text[bytes] = 0;
    symbols_try(text, bytes);
    expression_free(expression_parse(text, NULL, &error));
    free(text);
    return 0;
}
