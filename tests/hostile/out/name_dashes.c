/* attack: a name that is an option, to who types it
 * expect: ok
 * keeps: -rf
 */
#include "attack.h"

int main(void) {
    go_out();
    write_file("-rf", "x");
    return verdict(0);
}
