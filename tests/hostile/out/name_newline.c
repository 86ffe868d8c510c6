/* attack: a name with a newline, which forges lines in a listing
 * expect: output_rejected
 * rejects: name-control
 * lacks: a
 */
#include "attack.h"

int main(void) {
    go_out();
    write_file("a\n- b: kept", "x");
    return verdict(0);
}
