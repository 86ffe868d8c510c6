/* attack: NUL bytes
 * expect: ok
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) {
    static char block[4096];
    write(1, block, sizeof block);
    write(1, "\n", 1);
    return verdict(0);
}
