/* attack: /dev/loop-control: a loop device
 * expect: ok
 * stdout: open ENOENT or open EACCES or open ENXIO
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/dev/loop-control", O_RDWR, 0666))); }
