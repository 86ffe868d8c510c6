/* attack: three thousand directories below each other, deeper than any path can say
 * expect: output_rejected
 * rejects: too-deep
 * within: 10
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    go_out();
    for (int depth = 0; depth < 3000; depth++) {
        mkdir("d", 0755);
        chdir("d");
    }
    write_file("bottom", "x");
    return verdict(0);
}
