/* attack: two names for one file
 * expect: output_rejected
 * rejects: hardlink a
 * rejects: hardlink b
 * lacks: a
 */
#include "attack.h"

int main(void) {
    go_out();
    write_file("a", "x");
    attempt("link", link("a", "b"));
    return verdict(0);
}
