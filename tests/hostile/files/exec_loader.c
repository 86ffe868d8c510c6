/* attack: the loader as the program, which runs what is not executable
 * expect: ok or exit_nonzero
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    int file = open("/tmp/library", O_RDWR | O_CREAT, 0755);
    static char block[4 << 20];
    long length = read(open("/usr/bin/true", O_RDONLY), block, sizeof block);
    write(file, block, length);
    close(file);
    int status = -1;
    if (fork() == 0) {
        execl("/lib64/ld-linux-x86-64.so.2", "ld", "/tmp/library", NULL);
        _exit(1);
    }
    wait(&status);
    return closed(status == 0);
}
