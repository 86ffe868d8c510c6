/* attack: the session keyring, which no namespace divides
 * expect: seccomp_violation
 * names: keyctl
 */
#include "attack.h"

ONE_CALL("keyctl", syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -3, 1))
