/* attack: process accounting into a file of its own
 * expect: ok
 * stdout: acct EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("acct", syscall(SYS_acct, "/tmp/none"))
