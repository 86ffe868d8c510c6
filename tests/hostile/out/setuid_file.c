/* attack: a file that runs as its owner
 * expect: ok
 * keeps: setuid
 */
#include "attack.h"

/* Every case: no artifact may have a bit to execute or to take an owner by. */
int main(void) {
    go_out();
    write_file("setuid", "#!/bin/sh\n");
    attempt("chmod", chmod("setuid", 06755));
    return verdict(0);
}
