/* attack: a key where others of its user would find it
 * expect: seccomp_violation
 * names: add_key
 */
#include "attack.h"

ONE_CALL("add_key", syscall(SYS_add_key, "user", "toolexec-hostile", "x", 1, -3 /* session */))
