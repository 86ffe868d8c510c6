/* attack: a call of the 32-bit table, by int 0x80
 * expect: seccomp_violation
 * names: SIGSYS
 * needs: x86_64
 */
#include "attack.h"

/* 20 is getpid there, and writev in the x86_64 table that a wrong filter would use. */
int main(void) {
    long answer = 20;
    __asm__ volatile("int $0x80" : "+a"(answer) : : "memory");
    errno = answer < 0 ? -answer : 0;
    return closed(attempt("int80", answer < 0 ? -1 : 0));
}
