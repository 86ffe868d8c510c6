/* attack: a pipe of stdout as big as can be
 * expect: ok
 */
#include "attack.h"

int main(void) {
    attempt("F_SETPIPE_SZ", fcntl(1, F_SETPIPE_SZ, 1 << 30));
    return verdict(0);
}
