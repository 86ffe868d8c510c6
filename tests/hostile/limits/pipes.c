/* attack: memory of the kernel, in pipes that no process reads
 * expect: ok or memory_limit
 * limits: memory_mb=64
 */
#include "attack.h"

int main(void) {
    long held = 0;
    static char block[65536];
    for (int count = 0; count < 2000 && held < 192 * MIB; count++) {
        int ends[2];
        if (pipe2(ends, O_NONBLOCK) < 0) break;
        fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
        for (ssize_t wrote; (wrote = write(ends[1], block, sizeof block)) > 0;) held += wrote;
    }
    printf("held %ld MiB\n", held / MIB);
    return limited(held >= 192 * MIB);
}
