/* attack: a vfork whose child never lets its parent go on
 * expect: wall_limit
 * limits: time_sec=1
 * within: 5
 */
#include "attack.h"

int main(void) {
    if (vfork() == 0)
        for (;;) pause();
    return limited(1);
}
