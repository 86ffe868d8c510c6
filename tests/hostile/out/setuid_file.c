/* attack: a file that runs as its owner
 * expect: ok
 * keeps: setuid
 */
#include "attack.h"

/* In every case: no artifact may have an execute, setuid or setgid bit. */
int main(void) {
    go_out();
    write_file("setuid", "#!/bin/sh\n");
    attempt("chmod", chmod("setuid", 06755));
    return verdict(0);
}
