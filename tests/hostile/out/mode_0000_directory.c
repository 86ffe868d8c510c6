/* attack: a directory that no user may enter
 * expect: ok
 * keeps: locked/inside
 */
#include "attack.h"

int main(void) {
    go_out();
    mkdir("locked", 0755);
    write_file("locked/inside", "x");
    chmod("locked", 0);
    return verdict(0);
}
