/* attack: reading what its own stdout holds, or another's
 * expect: ok
 * stdout: read EBADF or read EACCES
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    char byte;
    return verdict(attempt("read", read(1, &byte, 1)));
}
