/* attack: two hundred directories below each other
 * expect: output_rejected
 * rejects: too-deep
 */
#include "attack.h"

int main(void) {
    go_out();
    for (int depth = 0; depth < 200; depth++) {
        mkdir("d", 0755);
        chdir("d");
    }
    write_file("bottom", "x");
    return verdict(0);
}
