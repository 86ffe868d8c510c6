/* attack: ignoring every signal that can be ignored
 * expect: wall_limit
 * limits: time_sec=1
 * within: 5
 */
#include "attack.h"

int main(void) {
    for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
    for (;;) pause();
}
