/* attack: ending itself by SIGTERM, which must be recorded as that
 * expect: signal 15
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    raise(SIGTERM);
    return 0;
}
