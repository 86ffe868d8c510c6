/* attack: writing to the program of pid 1
 * expect: ok
 * stdout: open ENOENT or open EACCES or open EROFS
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/proc/1/exe", O_WRONLY, 0666))); }
