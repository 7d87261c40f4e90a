/* token.h - random names that nobody can guess. */
#ifndef CONVLAB_AUTOGRADER_WORKBENCH_TOKEN_H
#define CONVLAB_AUTOGRADER_WORKBENCH_TOKEN_H

enum { TOKEN_CHARACTERS = 32 }; /* length of the server's key: 128 bits */

/* Fills `text` with random hexadecimal digits, an even number of at most TOKEN_CHARACTERS, and a
 * NUL. */
void token_draw(char *text, int characters);

#endif
