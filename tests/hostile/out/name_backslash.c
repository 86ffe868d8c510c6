/* attack: a name that is a path on other systems
 * expect: ok or output_rejected
 */
#include "attack.h"

int main(void) {
    go_out();
    write_file("..\\..\\etc\\passwd", "x");
    return verdict(0);
}
