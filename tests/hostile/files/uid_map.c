/* attack: a mapping of users of its own
 * expect: ok
 * stdout: open EACCES or open EROFS or open EPERM
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/proc/self/uid_map", O_WRONLY, 0666))); }
