/* attack: never to end
 * expect: wall_limit
 * limits: time_sec=1
 * within: 5
 */
#include "attack.h"

int main(void) {
    for (;;) pause();
}
