/* attack: a signal to pid 1 by its pidfd
 * expect: ok
 * stdout: pid 1 lives
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    int init = syscall(SYS_pidfd_open, 1, 0);
    attempt("pidfd_send_signal", syscall(SYS_pidfd_send_signal, init, SIGKILL, NULL, 0));
    sleep_ms(50);
    puts(kill(1, 0) < 0 && errno == ESRCH ? "pid 1 is gone" : "pid 1 lives");
    return verdict(0);
}
