/* Ends in the way that its argument names. Limits itself where it can. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static int is(const char *word, const char *wanted) { return strcmp(word, wanted) == 0; }

static void file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || write(fd, path, strlen(path)) < 0)
        _exit(9);
    close(fd);
}

/* Forks this many children in sessions of their own, which wait for ever. */
static void children(int count)
{
    for (; count > 0; count--) {
        pid_t child = fork();
        if (child < 0)
            return;
        if (child == 0) {
            setsid();
            for (;;)
                pause();
        }
    }
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    static char line[4096];
    if (is(word, "fails"))
        return 3;
    if (is(word, "crashes"))
        abort();
    if (is(word, "files")) {
        mkdir("/out/sub", 0700);
        file("/out/one");
        file("/out/sub/two");
    } else if (is(word, "odd")) {
        file("/out/one");
        if (symlink("/etc/passwd", "/out/link") != 0 || mkfifo("/out/fifo", 0600) != 0)
            return 9;
    } else if (is(word, "orphans")) {
        children(5);
    } else if (is(word, "forks")) {
        children(1000);
        /* With sampled limits, the sampler needs a moment to notice. */
        usleep(30000);
        return 1;
    } else if (is(word, "waits")) {
        children(2);
        for (;;)
            pause();
    } else if (is(word, "spins")) {
        for (;;)
            __asm__ volatile("");
    } else if (is(word, "allocates")) {
        for (size_t all = 0; all < (size_t)1 << 30; all += 1 << 20)
            memset(malloc(1 << 20), 1, 1 << 20);
        pause();
    } else if (is(word, "floods")) {
        while (write(1, line, sizeof line) > 0)
            ;
    } else if (is(word, "leaves")) {
        mount("none", "/tmp", "tmpfs", 0, NULL);
        pause();
    }
    return 0;
}
