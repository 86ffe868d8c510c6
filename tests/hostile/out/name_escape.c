/* attack: a name that types into the terminal of who lists it
 * expect: output_rejected
 * rejects: name-control
 * lacks: a
 */
#include "attack.h"

int main(void) {
    go_out();
    write_file("a\033]0;owned\007\033[2J", "x");
    return verdict(0);
}
