/* attack: memory that cannot be reclaimed
 * expect: ok
 * stdout: mlock ENOMEM or mlock EPERM
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    char *memory = calloc(16, MIB);
    return limited(attempt("mlock", mlock(memory, 16 * MIB)));
}
