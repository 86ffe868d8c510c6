/* attack: a link to a directory of the host
 * expect: output_rejected
 * rejects: symlink link
 */
#include "attack.h"

int main(void) {
    go_out();
    symlink("/etc", "link");
    return verdict(0);
}
