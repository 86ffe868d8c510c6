/* attack: swap space in a file
 * expect: ok
 * stdout: swapon EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("swapon", syscall(SYS_swapon, "/in/script.py", 0))
