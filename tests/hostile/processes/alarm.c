/* attack: an alarm that is not caught
 * expect: signal 14
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    ualarm(50000, 0);
    pause();
    return 0;
}
