/* attack: a character device node
 * expect: ok
 * stdout: mknod EPERM or mknod EACCES
 */
#include "attack.h"

int main(void) {
    go_out();
    int made = attempt("mknod", mknod("node", S_IFCHR | 0666, 0x101 /* /dev/mem */));
    return closed(made);
}
