/* attack: a file longer than a file may be, in a place that has room for it
 * expect: output_limit
 * limits: file_mib=4
 * lacks: big
 */
#include "attack.h"

int main(void) {
    if (chdir("/tmp") < 0) go_out();
    int file = open("big", O_RDWR | O_CREAT | O_EXCL, 0600);
    long done = fill_mib(file, 12);
    unlink("big");
    return limited(done == 12);
}
