/* attack: ending itself by SIGPIPE, which must be told as that
 * expect: signal 13
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    raise(SIGPIPE);
    return 0;
}
