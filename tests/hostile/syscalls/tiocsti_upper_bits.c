/* attack: TIOCSTI with a bit above the lower 32, which the kernel does not look at
 * expect: ok
 * stdout: ioctl EPERM or ioctl ENOSYS
 */
#include "attack.h"

int main(void) {
    int open_to_it = 0;
    for (int file = 0; file < 3; file++)
        if (syscall(SYS_ioctl, file, 0x100005412, "x") >= 0 || (errno != EPERM && errno != ENOSYS)) open_to_it = 1;
    attempt("ioctl", open_to_it ? 0 : -1);
    return closed(open_to_it && isatty(0));
}
