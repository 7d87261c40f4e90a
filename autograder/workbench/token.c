#include "autograder/workbench/token.h"

#include <sodium.h>

void token_draw(char *text, int characters)
{
    static const char DIGITS[] = "0123456789abcdef";
    unsigned char byte;
    for (int i = 0; i < characters; i++) {
        randombytes_buf(&byte, 1);
        text[i] = DIGITS[byte & 15];
    }
    text[characters] = 0;
}
