/* attack: how the host was started
 * expect: ok
 * stdout: open ENOENT or open EACCES
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/proc/cmdline", O_RDONLY, 0666))); }
