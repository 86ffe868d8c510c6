/* attack: a detached copy of a mount, by open_tree(2)
 * expect: seccomp_violation
 * names: open_tree
 */
#include "attack.h"

ONE_CALL("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/usr", 1 /* OPEN_TREE_CLONE */))
