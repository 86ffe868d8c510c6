/* attack: three names of 255 bytes below each other
 * expect: output_rejected
 * rejects: name-too-long
 */
#include "attack.h"

int main(void) {
    go_out();
    char name[256];
    memset(name, 'n', 255);
    name[255] = 0;
    for (int depth = 0; depth < 2; depth++) {
        mkdir(name, 0755);
        chdir(name);
    }
    write_file(name, "x");
    return verdict(0);
}
