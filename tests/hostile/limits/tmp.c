/* attack: three times the memory in /tmp
 * expect: ok or memory_limit
 * limits: memory_mb=64
 * stdout: write ENOSPC
 */
#include "attack.h"

int main(void) {
    int file = open("/tmp/hostile", O_RDWR | O_CREAT | O_EXCL, 0600);
    if (!attempt("open", file)) return limited(0);
    unlink("/tmp/hostile");
    long done = fill_mib(file, 192);
    attempt("write", done == 192 ? 0 : -1);
    return limited(done == 192);
}
