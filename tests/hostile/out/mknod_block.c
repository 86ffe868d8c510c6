/* attack: a block device node
 * expect: ok
 * stdout: mknod EPERM or mknod EACCES
 */
#include "attack.h"

int main(void) {
    go_out();
    int made = attempt("mknod", mknod("node", S_IFBLK | 0666, 0xfd00));
    return closed(made);
}
