/* attack: /dev/userfaultfd: user faults, as a device
 * expect: ok
 * stdout: open ENOENT or open EACCES or open ENXIO
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/dev/userfaultfd", O_RDWR, 0666))); }
