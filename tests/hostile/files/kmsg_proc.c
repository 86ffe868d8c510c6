/* attack: the log of the kernel, as a file
 * expect: ok
 * stdout: open ENOENT or open EACCES or open EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/proc/kmsg", O_RDONLY, 0666))); }
