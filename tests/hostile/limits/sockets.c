/* attack: memory of the kernel, in sockets that no process reads
 * expect: ok or memory_limit
 * limits: memory_mb=64
 */
#include "attack.h"

int main(void) {
    long held = 0;
    static char block[32768];
    for (int count = 0; count < 4000 && held < 192 * MIB; count++) {
        int ends[2], most = 16 << 20;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0) break;
        setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &most, sizeof most);
        for (ssize_t wrote; (wrote = write(ends[0], block, sizeof block)) > 0;) held += wrote;
        setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &most, sizeof most);
        for (ssize_t wrote; (wrote = write(ends[1], block, sizeof block)) > 0;) held += wrote;
    }
    printf("held %ld MiB\n", held / MIB);
    return limited(held >= 192 * MIB);
}
