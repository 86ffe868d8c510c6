/* attack: more files than are kept
 * expect: output_rejected
 * rejects: too-many
 * within: 12
 */
#include "attack.h"

int main(void) {
    go_out();
    char name[16];
    for (int count = 0; count < 1500; count++) {
        snprintf(name, sizeof name, "%d", count);
        write_file(name, "x");
    }
    return verdict(0);
}
