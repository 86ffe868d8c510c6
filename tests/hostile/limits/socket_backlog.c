/* attack: memory of the kernel in connections that are never accepted, whose other ends are closed
 * expect: memory_limit
 * limits: memory_mb=64
 */
#include "attack.h"

int main(void) {
    static char block[65536];
    long held = 0;
    for (int server = 0; server < 8 && held < 256 * MIB; server++) {
        struct sockaddr_un name = {AF_UNIX, "/tmp/s0"};
        name.sun_path[6] += server;
        int door = socket(AF_UNIX, SOCK_STREAM, 0);
        if (!attempt("bind", bind(door, (void *)&name, sizeof name)) || listen(door, 4096) < 0) break;
        for (int count = 0; count < 4000 && held < 256 * MIB; count++) {
            int client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
            if (connect(client, (void *)&name, sizeof name) < 0) break;
            for (ssize_t wrote; (wrote = write(client, block, sizeof block)) > 0;) held += wrote;
            close(client);
        }
    }
    printf("held %ld MiB\n", held / MIB);
    /* Long enough to be seen by a sampler. */
    sleep_ms(4000);
    return limited(held >= 192 * MIB);
}
