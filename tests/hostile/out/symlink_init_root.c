/* attack: a link to the root of pid 1
 * expect: output_rejected
 * rejects: symlink link
 */
#include "attack.h"

int main(void) {
    go_out();
    symlink("/proc/1/root/etc/shadow", "link");
    return verdict(0);
}
