/* attack: a lease on an input: the kernel reports when another process opens it
 * expect: ok
 * stdout: F_SETLEASE EACCES or F_SETLEASE EPERM
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    return verdict(attempt("F_SETLEASE", fcntl(open("/in/script.py", O_RDONLY), F_SETLEASE, F_RDLCK)));
}
