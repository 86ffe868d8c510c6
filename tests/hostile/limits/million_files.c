/* attack: a million empty files, of kernel memory only
 * expect: output_limit or memory_limit
 * limits: memory_mb=256
 * within: 20
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    go_out();
    char name[16];
    for (int count = 0; count < 1000000; count++) {
        snprintf(name, sizeof name, "%d", count);
        if (mknod(name, S_IFREG | 0600, 0) < 0) {
            attempt("mknod", -1);
            limited(0);
            return 1;
        }
    }
    return limited(1);
}
