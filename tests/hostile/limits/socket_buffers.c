/* attack: sixteen gibibytes of memory of the kernel in sockets whose buffers are as large as can be, by 8 processes
 * expect: memory_limit
 * limits: memory_mb=256
 * elsewhere: no
 */
#include "attack.h"

enum { PROCESSES = 8 };

/* Until the sockets of this process hold 2 GiB, or no more fits. */
static long fill(void) {
    static char block[65536];
    long held = 0;
    for (int pair = 0; pair < 500 && held < 2048 * MIB; pair++) {
        int ends[2], most = 64 << 20;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0) break;
        for (int end = 0; end < 2; end++) {
            setsockopt(ends[end], SOL_SOCKET, SO_SNDBUF, &most, sizeof most);
            for (ssize_t wrote; (wrote = write(ends[end], block, sizeof block)) > 0;) held += wrote;
        }
    }
    return held;
}

int main(void) {
    for (int child = 0; child < PROCESSES; child++)
        if (fork() == 0) {
            long held = fill();
            printf("held %ld MiB\n", held / MIB);
            limited(held >= 96 * MIB);
            sleep_ms(2000);
            _exit(0);
        }
    while (wait(NULL) > 0) {}
    return 0;
}
