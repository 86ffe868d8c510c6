/* attack: a child of pid 1, by CLONE_PARENT: its end must not be taken for the tool's
 * expect: ok
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0) _exit(77);
    sleep_ms(200);
    return verdict(0);
}
