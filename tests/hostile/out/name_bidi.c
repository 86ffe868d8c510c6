/* attack: a name that reads as another: a right-to-left override
 * expect: output_rejected
 * rejects: name-control
 * lacks: harmless
 */
#include "attack.h"

int main(void) {
    go_out();
    write_file("harmless\xe2\x80\xaegnp.exe", "x");
    return verdict(0);
}
