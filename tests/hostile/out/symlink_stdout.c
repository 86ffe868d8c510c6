/* attack: a link to a stream of its own
 * expect: output_rejected
 * rejects: symlink link
 */
#include "attack.h"

int main(void) {
    go_out();
    symlink("/proc/self/fd/1", "link");
    return verdict(0);
}
