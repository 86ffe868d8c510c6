/* attack: a name with an invisible character, so that two look alike
 * expect: output_rejected
 * rejects: name-control
 * lacks: repo
 */
#include "attack.h"

int main(void) {
    go_out();
    write_file("repo\xe2\x80\x8brt.txt", "x");
    return verdict(0);
}
