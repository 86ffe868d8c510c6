/* attack: ending itself by SIGKILL, which must be recorded as that
 * expect: signal 9
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    raise(SIGKILL);
    return 0;
}
