/* Runs the cases whose names contain a word, one after the other, as the tool of the microVM backend.
 * A boot for each would take half an hour. Prints a line of JSON for each case: its name, its exit
 * status, its duration, and the worst verdict that it printed.
 *
 *   guest_driver WORD [LAST]
 *
 * `not:WORD` selects the other cases. LAST replaces the driver at the end: a case that kills all
 * processes of its user, or fills the memory with what outlives it.
 */
#include "attack.h"
#include <dirent.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#define CASES "/hostile/cases"

enum { LIMIT_MS = 6000, TEXT_BYTES = 256 * 1024 };

static const char *const WORST_FIRST[] = {"ESCAPED", "UNLIMITED", "OPEN", "CONTAINED"};

static long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void become(const char *path) {
    if (strstr(path, ".py")) execl("/usr/bin/python3", "python3", path, (char *)0);
    execl(path, path, (char *)0);
    _exit(127);
}

/* Starts a case below a process that it may kill in place of the driver. */
static pid_t start(const char *path, int output) {
    pid_t parent = fork();
    if (parent) return parent;
    setsid();
    dup2(output, 1);
    dup2(output, 2);
    closefrom(3);
    pid_t child = fork();
    if (child == 0) {
        /* When memory runs out, the case must die before the driver. */
        prctl(PR_SET_DUMPABLE, 1);
        write_file("/proc/self/oom_score_adj", "1000");
        become(path);
    }
    int status = 0;
    while (waitpid(child, &status, 0) != child) {}
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Ends everything that the case has left. Processes that it started belong to the driver now. */
static void kill_rest(void) {
    for (int tries = 0; tries < 500; tries++) {
        pid_t ended;
        kill(-1, SIGKILL);
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0) {}
        if (ended < 0) return;
        sleep_ms(5);
    }
}

/* Removes the objects of System V, which outlive their processes. */
static void remove_shared(const char *list, int kind) {
    char line[512];
    int key, id;
    FILE *file = fopen(list, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%d %d", &key, &id) != 2) continue;
        if (kind == 0) msgctl(id, IPC_RMID, NULL);
        if (kind == 1) semctl(id, 0, IPC_RMID);
        if (kind == 2) shmctl(id, IPC_RMID, NULL);
    }
    if (file) fclose(file);
}

/* Moves the content of a directory to the current one, so that no path is too long. */
static void flatten(const char *name) {
    static unsigned long serial;
    char moved[32];
    struct dirent *entry;
    chmod(name, 0700);
    int at = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    DIR *list = at < 0 ? NULL : fdopendir(at);
    while (list && (entry = readdir(list))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        fchmodat(at, entry->d_name, 0700, 0);
        snprintf(moved, sizeof moved, ".moved-%lu", serial++);
        renameat(at, entry->d_name, AT_FDCWD, moved);
    }
    if (list) closedir(list);
    rmdir(name);
}

static void clear(const char *place) {
    struct dirent *entry;
    int left = 1;
    chmod(place, 0755);
    if (chdir(place) < 0) return;
    for (int rounds = 0; left && rounds < 10000; rounds++) {
        DIR *list = opendir(".");
        left = 0;
        while (list && (entry = readdir(list))) {
            if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
            left = 1;
            if (unlink(entry->d_name) < 0 && rmdir(entry->d_name) < 0) flatten(entry->d_name);
        }
        if (list) closedir(list);
    }
    chdir("/");
}

/* Reads the output of a case until it ends. Returns 1 if its time was over. A case that has killed
 * its parent ends with its output. */
static int gather(int from, pid_t parent, int *status, char *text) {
    static char rest[4096];
    size_t length = 0;
    long end = now_ms() + LIMIT_MS;
    int gone = 0, closed_output = 0;
    while (now_ms() < end && !(gone && (WIFEXITED(*status) || closed_output))) {
        struct pollfd waited = {closed_output ? -1 : from, POLLIN};
        gone = gone || waitpid(parent, status, WNOHANG) == parent;
        if (poll(&waited, 1, gone ? 1 : 20) <= 0) continue;
        int full = length + 1 >= TEXT_BYTES;
        ssize_t count = full ? read(from, rest, sizeof rest) : read(from, text + length, TEXT_BYTES - 1 - length);
        if (count > 0 && !full) length += count;
        closed_output = count == 0;
    }
    for (ssize_t count; (count = read(from, text + length, TEXT_BYTES - 1 - length)) > 0;) length += count;
    text[length] = 0;
    return !gone;
}

static const char *worst(const char *text) {
    for (int at = 0; at < 4; at++) {
        const char *found = text;
        size_t length = strlen(WORST_FIRST[at]);
        while ((found = strstr(found, WORST_FIRST[at]))) {
            int begins = found == text || found[-1] == '\n';
            if (begins && (found[length] == '\n' || !found[length])) return WORST_FIRST[at];
            found += length;
        }
    }
    return "";
}

static void run(const char *name) {
    static char text[TEXT_BYTES];
    char path[PATH_MAX];
    int ends[2], status = 0;
    long begun = now_ms();
    if (pipe2(ends, O_CLOEXEC) < 0) return;
    printf("{\"begins\": \"%s\"}\n", name);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    snprintf(path, sizeof path, CASES "/%s", name);
    pid_t parent = start(path, ends[1]);
    close(ends[1]);
    int late = gather(ends[0], parent, &status, text);
    kill_rest();
    close(ends[0]);
    remove_shared("/proc/sysvipc/msg", 0);
    remove_shared("/proc/sysvipc/sem", 1);
    remove_shared("/proc/sysvipc/shm", 2);
    clear("/out");
    clear("/tmp");
    clear("/dev/shm");
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    printf("{\"case\": \"%s\", \"late\": %s, \"status\": %d, \"verdict\": \"%s\", \"ms\": %ld}\n", name,
           late ? "true" : "false", code, worst(text), now_ms() - begun);
}

static int is_case(const struct dirent *entry) { return entry->d_name[0] != '.'; }

int main(int argc, char **argv) {
    struct dirent **names;
    char last[PATH_MAX];
    if (argc < 3) return 3;
    int other = !strncmp(argv[1], "not:", 4);
    int count = scandir(CASES, &names, is_case, alphasort);
    if (count < 0) return 3;
    /* Cases look into their parent, which is pid 1 in a plain sandbox. */
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (int at = 0; at < count; at++) {
        const char *name = names[at]->d_name;
        int chosen = (strstr(name, argv[1] + (other ? 4 : 0)) == NULL) == other;
        int ran = argc > 3 && strcmp(name, argv[3]) <= 0;
        if (chosen && !ran && strcmp(name, argv[2])) run(name);
    }
    printf("{\"last\": \"%s\"}\n", argv[2]);
    snprintf(last, sizeof last, CASES "/%s", argv[2]);
    become(last);
}
