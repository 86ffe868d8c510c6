/* attack: one line of a mebibyte
 * expect: ok
 */
#include "attack.h"

int main(void) {
    static char line[1 << 20];
    memset(line, '#', sizeof line);
    write(1, line, sizeof line);
    write(1, "\n", 1);
    return verdict(0);
}
