/* attack: a link to itself
 * expect: output_rejected
 * rejects: symlink link
 */
#include "attack.h"

int main(void) {
    go_out();
    symlink("link", "link");
    return verdict(0);
}
