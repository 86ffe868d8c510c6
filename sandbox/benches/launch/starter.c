/*
 * Starts one program repeatedly, with as few calls as the kernel allows, and reports the time of each
 * start: from the call that makes the process until its end is seen. Must do nothing else in that time.
 *
 *   starter vfork|namespaces PROGRAM [ARGUMENT...]
 *
 * Each command on standard input is four bytes, a number of milliseconds. 0 requests one start, and the
 * answer is its nanoseconds. Any other number requests as many starts as fit, and the answer is their
 * count. Answers are eight bytes.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char **words;
static int namespaces;
static char stack[64 * 1024] __attribute__((aligned(16)));

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int become(void *unused)
{
    extern char **environ;
    (void)unused;
    execve(words[0], words, environ);
    _exit(127);
}

static void start(void)
{
    int status, flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
    if (namespaces) {
        flags |= CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET | CLONE_NEWCGROUP;
        if (geteuid() != 0)
            flags |= CLONE_NEWUSER;
    }
    pid_t child = clone(become, stack + sizeof stack, flags, NULL);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        exit(1);
}

int main(int argc, char **argv)
{
    uint32_t ms;
    if (argc < 3)
        return 3;
    namespaces = strcmp(argv[1], "namespaces") == 0;
    words = argv + 2;
    while (read(0, &ms, sizeof ms) == sizeof ms) {
        uint64_t begun = now(), until = begun + (uint64_t)ms * 1000000u, answer = 0;
        if (ms == 0) {
            start();
            answer = now() - begun;
        } else {
            for (; now() < until; answer++)
                start();
        }
        if (write(1, &answer, sizeof answer) != sizeof answer)
            return 1;
    }
    return 0;
}
