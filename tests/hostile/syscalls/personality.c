/* attack: switching address randomisation off for what it executes
 * expect: ok
 * stdout: personality EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("personality", syscall(SYS_personality, 0x0040000 /* ADDR_NO_RANDOMIZE */))
