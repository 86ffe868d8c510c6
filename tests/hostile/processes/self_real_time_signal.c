/* attack: ending itself by SIGRTMAX, which must be recorded as that
 * expect: signal 64
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    raise(SIGRTMAX);
    return 0;
}
