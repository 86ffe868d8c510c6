/* attack: a signal to every number that a process of the host could have
 * expect: ok
 * stdout: reached 0
 * elsewhere: no
 */
#include "attack.h"

/* Signal 0 has no effect, and shows whether a signal could be sent. */
int main(void) {
    int reached = 0;
    for (pid_t pid = 2; pid < 100000; pid++)
        if (pid != getpid() && (kill(pid, 0) == 0 || errno == EPERM)) reached++;
    printf("reached %d\n", reached);
    return verdict(reached > 0);
}
