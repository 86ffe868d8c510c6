/* attack: an alarm that nobody catches
 * expect: signal 14
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    ualarm(50000, 0);
    pause();
    return 0;
}
