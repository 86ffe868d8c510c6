/* attack: groups of its own choice
 * expect: ok
 * stdout: setgroups EPERM
 */
#include "attack.h"
#include <grp.h>

int main(void) { return verdict(attempt("setgroups", setgroups(1, (gid_t[]){0}))); }
