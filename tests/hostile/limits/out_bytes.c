/* attack: three times what /out may hold
 * expect: output_limit
 * limits: memory_mb=64
 * stdout: write ENOSPC
 */
#include "attack.h"

int main(void) {
    go_out();
    int file = open("big", O_RDWR | O_CREAT | O_EXCL, 0600);
    long done = fill_mib(file, 192);
    attempt("write", done == 192 ? 0 : -1);
    limited(done == 192);
    return done != 192;
}
