/* attack: the first half of a character at the end
 * expect: ok
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) {
    verdict(0);
    write(1, "\xe2\x82", 2);
    return 0;
}
