/* attack: a thread with descriptors of its own, which no list of its process shows
 * expect.system: ok
 * expect.user: seccomp_violation
 * names.user: clone
 */
#include "attack.h"

static int thread_of_its_own(void *nothing) {
    (void)nothing;
    syscall(SYS_exit, 0);
    return 0;
}

int main(void) {
    static char stack[65536] __attribute__((aligned(16)));
    int flags = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    int done = attempt("clone", clone(thread_of_its_own, stack + sizeof stack, flags, NULL));
    sleep_ms(50);
    return !done;
}
