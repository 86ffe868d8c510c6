/* attack: a name that is not UTF-8
 * expect: output_rejected
 * rejects: name-not-utf8
 */
#include "attack.h"

int main(void) {
    go_out();
    write_file("\xff\xfe\xc3", "x");
    return verdict(0);
}
