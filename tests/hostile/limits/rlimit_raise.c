/* attack: raising its own limits
 * expect: ok
 * stdout: NOFILE EPERM
 * stdout: CORE EPERM
 * stdout: NICE EPERM
 * stdout: RTPRIO EPERM
 * stdout: MEMLOCK EPERM
 * elsewhere: no
 */
#include "attack.h"

static int raise_one(const char *name, int which) {
    struct rlimit limit;
    getrlimit(which, &limit);
    limit.rlim_max += 1;
    limit.rlim_cur = limit.rlim_max;
    return attempt(name, setrlimit(which, &limit));
}

int main(void) {
    int raised = raise_one("NOFILE", RLIMIT_NOFILE) | raise_one("CORE", RLIMIT_CORE);
    raised |= raise_one("NICE", RLIMIT_NICE) | raise_one("RTPRIO", RLIMIT_RTPRIO);
    return limited(raised | raise_one("MEMLOCK", RLIMIT_MEMLOCK));
}
