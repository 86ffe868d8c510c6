/* attack: the program that the host starts for a device
 * expect: ok
 * stdout: open ENOENT or open EACCES or open EROFS
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/sys/kernel/uevent_helper", O_WRONLY, 0666))); }
