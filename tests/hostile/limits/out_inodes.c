/* attack: more files than /out may hold
 * expect: output_limit
 * limits: inodes=1024
 * stdout: open ENOSPC
 */
#include "attack.h"

int main(void) {
    go_out();
    char name[16];
    for (int count = 0; count < 3100; count++) {
        snprintf(name, sizeof name, "%d", count);
        int file = open(name, O_WRONLY | O_CREAT, 0600);
        if (file < 0) {
            attempt("open", -1);
            limited(0);
            return 1;
        }
        close(file);
    }
    return limited(1);
}
