/* attack: a name of 255 bytes, the longest that there is
 * expect: ok
 */
#include "attack.h"

int main(void) {
    go_out();
    char name[256];
    memset(name, 'n', 255);
    name[255] = 0;
    write_file(name, "x");
    return verdict(0);
}
