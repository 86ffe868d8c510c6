/* attack: a name with a slash in overlong UTF-8
 * expect: output_rejected
 * rejects: name-not-utf8
 */
#include "attack.h"

int main(void) {
    go_out();
    write_file("..\xc0\xaf" "etc", "x");
    return verdict(0);
}
