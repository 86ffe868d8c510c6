/* attack: the memory of the kernel
 * expect: ok
 * stdout: open ENOENT or open EACCES or open EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/proc/kcore", O_RDONLY, 0666))); }
