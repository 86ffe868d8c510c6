/* attack: the program that the host starts for a module
 * expect: ok
 * stdout: open ENOENT or open EACCES or open EROFS
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/proc/sys/kernel/modprobe", O_WRONLY, 0666))); }
