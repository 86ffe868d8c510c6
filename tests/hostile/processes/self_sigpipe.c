/* attack: ending itself by SIGPIPE, which must be recorded as that
 * expect: signal 13
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    raise(SIGPIPE);
    return 0;
}
