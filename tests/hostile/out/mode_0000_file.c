/* attack: a file that no user may read
 * expect: ok
 * keeps: locked
 */
#include "attack.h"

int main(void) {
    go_out();
    write_file("locked", "x");
    chmod("locked", 0);
    return verdict(0);
}
