/* attack: its own memory, past what it may write
 * expect: ok
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

/* Code mapped read-only from a read-only file: the write must stay in this process. */
int main(void) {
    int memory = open("/proc/self/mem", O_RDWR);
    attempt("open", memory);
    if (memory >= 0) attempt("pwrite", pwrite(memory, "\x90", 1, (off_t)(uintptr_t)&error_name));
    return verdict(0);
}
