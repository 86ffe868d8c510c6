/* attack: stopping itself, so that it never ends
 * expect: wall_limit
 * limits: time_sec=1
 * within: 5
 */
#include "attack.h"

int main(void) {
    raise(SIGSTOP);
    return limited(0);
}
