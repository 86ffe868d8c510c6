/* attack: the keys that reboot the host
 * expect: ok
 * stdout: open ENOENT or open EACCES or open EROFS
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/proc/sysrq-trigger", O_WRONLY, 0666))); }
