/* attack: a key that others of its user have left
 * expect: seccomp_violation
 * names: request_key
 */
#include "attack.h"

ONE_CALL("request_key", syscall(SYS_request_key, "user", "toolexec-hostile", NULL, -3))
