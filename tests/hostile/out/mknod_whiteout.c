/* attack: the one device node that needs no capability: an overlay whiteout
 * expect: ok or output_rejected
 * stdout: mknod EPERM or mknod EACCES or mknod DONE
 * lacks: node
 */
#include "attack.h"

int main(void) {
    go_out();
    /* Harmless by itself, but a tool has no reason to create one. Newer kernels let Landlock permit it
     * with the right to create files; then the collector must reject it. */
    attempt("mknod", mknod("node", S_IFCHR | 0666, 0));
    return closed(0);
}
