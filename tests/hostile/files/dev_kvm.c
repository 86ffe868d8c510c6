/* attack: /dev/kvm: a virtual machine
 * expect: ok
 * stdout: open ENOENT or open EACCES or open ENXIO
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/dev/kvm", O_RDWR, 0666))); }
