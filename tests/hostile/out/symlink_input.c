/* attack: a link to an input
 * expect: output_rejected
 * rejects: symlink link
 */
#include "attack.h"

int main(void) {
    go_out();
    symlink("/in/script.py", "link");
    return verdict(0);
}
