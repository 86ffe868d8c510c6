/* attack: ioctls that reveal the host's file systems and disks
 * expect: ok
 * stdout: uuid EPERM
 * stdout: sysfs EPERM
 * stdout: fiemap EPERM
 * stdout: flags EPERM
 * stdout: FIONREAD DONE
 * elsewhere: no
 */
#include "attack.h"
#include <linux/fiemap.h>

int main(void) {
    char space[256] = {0}, input[] = "/in/script.py";
    struct fiemap map = {.fm_length = ~0UL};
    int usr = open("/usr", O_RDONLY), in = open(input, O_RDONLY), got = 0, ends[2];
    int answered = attempt("uuid", ioctl(usr, 0x80111500, space));
    answered |= attempt("sysfs", ioctl(usr, 0x80811501, space));
    answered |= attempt("fiemap", ioctl(in, 0xC020660B, &map));
    answered |= attempt("flags", ioctl(in, 0x80086601, space));
    /* Calls that programs need. */
    if (pipe(ends) < 0) return 9;
    attempt("FIONREAD", ioctl(ends[0], FIONREAD, &got));
    return closed(answered);
}
