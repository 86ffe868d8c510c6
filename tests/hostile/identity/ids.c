/* attack: users and groups beside its own
 * expect: ok
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    gid_t groups[64];
    int count = getgroups(64, groups), foreign = 0;
    /* In a user namespace, groups that are not mapped show as 65534. */
    for (int at = 0; at < count; at++) foreign += groups[at] != getgid();
    printf("root %d, groups %d\n", getuid() == 0 || getgid() == 0, foreign);
    return verdict(getuid() == 0 || getgid() == 0 || foreign);
}
