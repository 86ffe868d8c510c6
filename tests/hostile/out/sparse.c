/* attack: a file that says it is a tebibyte
 * expect: output_limit
 * stdout: none
 * within: 8
 */
#include "attack.h"

int main(void) {
    go_out();
    attempt("ftruncate", ftruncate(open("sparse", O_RDWR | O_CREAT, 0644), 1L << 40));
    return verdict(0);
}
