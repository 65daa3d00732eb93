/* For tests of asserts and aborts: runs something in a child process. */
#ifndef VD_TESTS_DEATH_H
#define VD_TESTS_DEATH_H

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether `run` aborts with a line on stderr that contains `says`. */
static inline bool aborts_saying(void (*run)(void), const char *says)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL); /* the test library has set a handler of its own */
        dup2(ends[1], STDERR_FILENO);
        run();
        _exit(0);
    }
    close(ends[1]);
    char text[4096];
    size_t n = 0;
    for (ssize_t got; n < sizeof text - 1; n += (size_t)got) {
        got = read(ends[0], text + n, sizeof text - 1 - n);
        if (got <= 0)
            break;
    }
    text[n] = 0;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(text, says);
}

#endif
