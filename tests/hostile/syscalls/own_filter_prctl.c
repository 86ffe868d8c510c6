/* attack: a filter by prctl, which would answer before the sandbox's and so hide what is tried
 * expect: ok
 * stdout: prctl EPERM
 * stdout: sync EPERM
 * stdout: CONTAINED
 * names: prctl
 * names: sync
 * elsewhere: no
 */
#include "attack.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

int main(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sync, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    int had = attempt("prctl", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
    attempt("sync", syscall(SYS_sync));
    return closed(had);
}
