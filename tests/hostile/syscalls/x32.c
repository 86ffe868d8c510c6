/* attack: a call of the x32 table
 * expect: seccomp_violation
 * names: SIGSYS
 * needs: x86_64
 */
#include "attack.h"

int main(void) {
    return closed(attempt("x32", syscall(0x40000000 + SYS_getpid)));
}
