/* attack: three times what /out may hold, in files that are each small enough
 * expect: output_limit
 * limits: memory_mb=64
 * stdout: write ENOSPC
 */
#include "attack.h"

int main(void) {
    go_out();
    char name[16];
    long done = 0;
    for (int count = 0; done == count * 8; count++) {
        if (done == 192) return limited(1);
        snprintf(name, sizeof name, "%d", count);
        done += fill_mib(open(name, O_RDWR | O_CREAT | O_EXCL, 0600), 8);
    }
    attempt("write", -1);
    limited(0);
    return 1;
}
