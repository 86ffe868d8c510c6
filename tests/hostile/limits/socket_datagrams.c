/* attack: memory of the kernel in datagrams that no process reads, from sockets that are closed
 * expect: memory_limit
 * limits: memory_mb=64
 */
#include "attack.h"

int main(void) {
    static char block[200000];
    long held = 0;
    for (int count = 0; count < 500 && held < 192 * MIB; count++) {
        struct sockaddr_un name = {AF_UNIX, ""};
        snprintf(name.sun_path, sizeof name.sun_path, "/tmp/%d", count);
        int receiver = socket(AF_UNIX, SOCK_DGRAM, 0);
        if (receiver < 0) {
            attempt("socket", receiver);
            break;
        }
        if (bind(receiver, (void *)&name, sizeof name) < 0) break;
        for (;;) {
            int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
            ssize_t wrote = sendto(sender, block, sizeof block, 0, (void *)&name, sizeof name);
            close(sender);
            if (wrote < 0) break;
            held += wrote;
        }
    }
    printf("held %ld MiB\n", held / MIB);
    /* Long enough to be seen by a sampler. */
    sleep_ms(4000);
    return limited(held >= 192 * MIB);
}
