/* attack: the session and the terminal of who started it
 * expect: ok
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    int terminal = isatty(0) || isatty(1) || isatty(2);
    printf("leads its session: %d, terminal: %d\n", getsid(0) == getpid(), terminal);
    return verdict(terminal || getsid(0) == 0);
}
