#include "autograder/class/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void become(const char *folder, const char *const *word, const char *input,
                   const char *output)
{
    if (chdir(folder)) _exit(TOOL_MISSING - 1);
    int in = open(input ? input : "/dev/null", O_RDONLY | O_CLOEXEC);
    int out = open(output ? output : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (in < 0 || out < 0) _exit(TOOL_MISSING - 1);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execvp(word[0], (char *const *)(uintptr_t)word);
    _exit(TOOL_MISSING);
}

int tool_run(const char *folder, const char *const *word, const char *input, const char *output,
             Error *error)
{
    int status;
    pid_t child = fork();
    if (child < 0) return error_set(error, "no process for %s: %s", word[0], strerror(errno));
    if (!child) become(folder, word, input, output);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    return error_set(error, "%s died of signal %d", word[0], WTERMSIG(status));
}
