/* attack: having the kernel merge pages with those of others, whose writes then take longer: KSM
 * expect: ok
 * stdout: prctl EPERM
 * stdout: madvise EPERM
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int open = attempt("prctl", prctl(67, 1, 0, 0, 0));
    open |= attempt("madvise", madvise(page, 4096, MADV_MERGEABLE));
    return closed(open);
}
