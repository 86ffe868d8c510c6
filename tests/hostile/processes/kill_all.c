/* attack: killing all processes that it may, which are only its own
 * expect: ok
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    attempt("kill", kill(-1, SIGKILL));
    sleep_ms(50);
    return verdict(0);
}
