/* attack: a thread with descriptors of its own, which no list of its process shows
 * expect.system: ok
 * expect.user: seccomp_violation
 * names.user: clone
 */
#include "attack.h"

int main(void) {
    static char stack[65536] __attribute__((aligned(16)));
    long flags = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    long thread = syscall(SYS_clone, flags, stack + sizeof stack, 0, 0, 0);
    if (thread == 0) syscall(SYS_exit, 0);
    return attempt("clone", thread) ? 0 : 1;
}
