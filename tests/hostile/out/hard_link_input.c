/* attack: a second name in /out for an input
 * expect: ok
 * stdout: link EXDEV or link EACCES or link EPERM
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    go_out();
    return verdict(attempt("link", link("/in/script.py", "input")));
}
