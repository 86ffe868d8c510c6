/* attack: the debugging files of the kernel
 * expect: ok
 * stdout: open ENOENT or open EACCES or open EPERM
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/sys/kernel/debug", O_RDONLY, 0666))); }
