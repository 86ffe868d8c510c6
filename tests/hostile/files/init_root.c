/* attack: the root of pid 1
 * expect: ok
 * stdout: open ENOENT or open EACCES
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/proc/1/root/etc/shadow", O_RDONLY, 0666))); }
