/* attack: a stdout for which its reader might have to wait
 * expect: ok
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    fcntl(1, F_SETFL, O_NONBLOCK | O_ASYNC | O_DIRECT);
    fcntl(1, F_SETOWN, 1);
    return verdict(0);
}
