/* attack: a file that grows while it is read
 * expect: ok or output_rejected
 * keeps: grows
 * within: 8
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    go_out();
    int file = open("grows", O_RDWR | O_CREAT, 0644);
    write(file, "x", 1);
    if (fork() == 0) {
        setsid();
        for (long begun = time(NULL); time(NULL) - begun < 20;) {
            write(file, "more", 4);
            if (lseek(file, 0, SEEK_CUR) > 4096) ftruncate(file, 1), lseek(file, 1, SEEK_SET);
        }
        _exit(0);
    }
    sleep_ms(100);
    return verdict(0);
}
