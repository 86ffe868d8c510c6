/* attack: a directory that becomes a link and a directory again while it is collected
 * expect: ok or output_rejected
 * lacks: d/passwd
 * lacks: d/shadow
 * within: 8
 * elsewhere: no
 */
#include "attack.h"

/* No process is left to do it: all are dead before the collection starts. */
int main(void) {
    go_out();
    mkdir("d", 0755);
    write_file("d/passwd", "the tool's own");
    unlink("d/passwd");
    if (fork() == 0) {
        setsid();
        for (long begun = time(NULL); time(NULL) - begun < 20;) {
            rename("d", "e");
            symlink("/etc", "d");
            unlink("d");
            rename("e", "d");
        }
        _exit(0);
    }
    sleep_ms(100);
    return verdict(0);
}
