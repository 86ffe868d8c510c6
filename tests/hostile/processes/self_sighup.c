/* attack: ending itself by SIGHUP, which must be recorded as that
 * expect: signal 1
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    raise(SIGHUP);
    return 0;
}
