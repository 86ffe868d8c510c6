/* attack: a link that climbs out
 * expect: output_rejected
 * rejects: symlink link
 */
#include "attack.h"

int main(void) {
    go_out();
    symlink("../../../../../../etc/shadow", "link");
    return verdict(0);
}
