/* attack: a FIFO, which holds who opens it for ever
 * expect: output_rejected
 * rejects: fifo fifo
 * keeps: z
 * within: 8
 */
#include "attack.h"

int main(void) {
    go_out();
    mkfifo("fifo", 0644);
    write_file("z", "collected after it");
    return verdict(0);
}
