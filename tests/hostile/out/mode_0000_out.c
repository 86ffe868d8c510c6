/* attack: /out itself closed to every user
 * expect: ok
 * keeps: inside
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    go_out();
    write_file("inside", "x");
    attempt("chmod", chmod(".", 0));
    return verdict(0);
}
