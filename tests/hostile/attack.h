/* Helpers of every case in C. A case tries something, prints each result as `<name> <ERRNO>` or
 * `<name> DONE`, and ends with its verdict, as far as it can know it:
 *
 *   CONTAINED   it got nothing that a sandbox must not give
 *   OPEN        a call succeeded that no sandbox needs and that often has vulnerabilities
 *   ESCAPED     it reached something of the host, or of another run
 *   UNLIMITED   it exceeded a limit (the program stops at about three times the limit)
 *
 * A program must never do harm if nothing stops it: every loop ends by itself.
 */
#ifndef ATTACK_H
#define ATTACK_H
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1024L * 1024)

/* Unbuffered, so that output is not lost if the program is killed. */
__attribute__((constructor)) static void print_at_once(void) { setvbuf(stdout, NULL, _IONBF, 0); }

static inline const char *error_name(int error) {
    const char *name = strerrorname_np(error);
    return name ? name : "UNKNOWN";
}

/* Prints the result of a call; returns 1 if it succeeded. */
static inline int attempt(const char *name, long answer) {
    printf("%s %s\n", name, answer < 0 ? error_name(errno) : "DONE");
    return answer >= 0;
}

static inline int verdict(int escaped) {
    puts(escaped ? "ESCAPED" : "CONTAINED");
    return 0;
}

static inline int closed(int open) {
    puts(open ? "OPEN" : "CONTAINED");
    return 0;
}

static inline int limited(int passed) {
    puts(passed ? "UNLIMITED" : "CONTAINED");
    return 0;
}

/* A case of one call that must fail. */
#define ONE_CALL(name, call) \
    int main(void) { return closed(attempt(name, call)); }

/* Returns the value of a `key=value` line of the input, such as the address of a listener of the host. */
static inline const char *given(const char *key) {
    static char value[256];
    char line[256];
    const char *place = getenv("CASE_IN");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/script.py", place ? place : "/in");
    FILE *file = fopen(path, "r");
    size_t length = strlen(key);
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, key, length) && line[length] == '=') {
            snprintf(value, sizeof value, "%s", line + length + 1);
            value[strcspn(value, "\n")] = 0;
            fclose(file);
            return value;
        }
    puts("the input is missing");
    exit(9);
}

/* Changes to the output directory of the run. */
static inline void go_out(void) {
    const char *place = getenv("CASE_OUT");
    if (chdir(place ? place : "/out") < 0) {
        puts("no /out");
        exit(9);
    }
}

static inline void write_file(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || write(file, text, strlen(text)) < 0) printf("%s %s\n", path, error_name(errno));
    if (file >= 0) close(file);
}

static inline void sleep_ms(long ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&time, &time) < 0 && errno == EINTR) {}
}

/* Starts a child by clone(2) with flags that no library uses; it ends at once. */
static inline long clone_child(long flags) {
    long child = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    return child;
}

/* Writes whole mebibytes to a new file until a write fails; returns their number. */
static inline long fill_mib(int file, long most) {
    static char block[1024 * 1024];
    memset(block, 'x', sizeof block);
    long done = 0;
    ssize_t wrote;
    while (done < most && (wrote = write(file, block, sizeof block)) > 0)
        if (wrote == (ssize_t)sizeof block) done++;
    return done;
}

/* Touches memory page by page. */
static inline void touch(char *memory, long bytes) {
    for (long at = 0; at < bytes; at += 4096) ((volatile char *)memory)[at] = 1;
}

#endif
