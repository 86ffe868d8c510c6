/* attack: taking no_new_privs back
 * expect: ok
 * stdout: prctl EINVAL or prctl EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("prctl", prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0))
