#include "autograder/workbench/token.h"

#include <sodium.h>

void token_draw(char *text, int characters)
{
    unsigned char byte[TOKEN_CHARACTERS / 2];
    size_t bytes = (size_t)characters / 2;
    randombytes_buf(byte, bytes);
    sodium_bin2hex(text, 2 * bytes + 1, byte, bytes);
}
