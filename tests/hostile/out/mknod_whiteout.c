/* attack: the one device node that needs no capability: an overlay whiteout
 * expect: ok
 * stdout: mknod EPERM or mknod EACCES
 */
#include "attack.h"

int main(void) {
    go_out();
    /* Harmless by itself, but a tool has no reason to create one. */
    attempt("mknod", mknod("node", S_IFCHR | 0666, 0));
    return closed(0);
}
