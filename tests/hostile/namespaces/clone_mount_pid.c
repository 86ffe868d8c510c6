/* attack: a child in namespaces of its own, by clone(2) with several flags
 * expect: seccomp_violation
 * names: clone
 */
#include "attack.h"

ONE_CALL("clone", clone_child(CLONE_NEWNS | CLONE_NEWPID))
