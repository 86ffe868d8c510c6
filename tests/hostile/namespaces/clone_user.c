/* attack: a child in a user namespace of its own, by clone(2)
 * expect: seccomp_violation
 * names: clone
 */
#include "attack.h"

ONE_CALL("clone", clone_child(CLONE_NEWUSER))
