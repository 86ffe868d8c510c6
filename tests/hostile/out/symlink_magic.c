/* attack: a link to a link that the kernel makes up
 * expect: output_rejected
 * rejects: symlink link
 */
#include "attack.h"

int main(void) {
    go_out();
    symlink("/proc/self/exe", "link");
    return verdict(0);
}
