/* attack: reading far more than the memory: the cache of files does not count as memory
 * expect: ok
 * stdout: read it all
 * limits: memory_mb=32
 * needs: /usr/bin/python3
 */
#include "attack.h"

/* The biggest files of /usr, read repeatedly up to 256 MiB. */
int main(void) {
    static char block[1024 * 1024];
    long done = 0;
    const char *files[] = {"/usr/bin/python3", "/usr/bin/perl", "/usr/bin/gdb", "/usr/bin/node"};
    while (done < 256 * MIB)
        for (size_t at = 0; at < sizeof files / sizeof *files; at++) {
            int file = open(files[at], O_RDONLY);
            for (ssize_t got; file >= 0 && (got = read(file, block, sizeof block)) > 0;) done += got;
            if (file >= 0) close(file);
        }
    puts("read it all");
    return limited(0);
}
