/* attack: a link to a file that only root may read
 * expect: output_rejected
 * rejects: symlink link
 */
#include "attack.h"

int main(void) {
    go_out();
    symlink("/etc/shadow", "link");
    return verdict(0);
}
