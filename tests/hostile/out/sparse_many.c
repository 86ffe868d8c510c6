/* attack: holes that are more than /out can hold, in files that are each small enough
 * expect: output_rejected
 * rejects: too-big
 * limits: memory_mb=64
 * within: 10
 */
#include "attack.h"

int main(void) {
    go_out();
    char name[16];
    for (int count = 0; count < 100; count++) {
        snprintf(name, sizeof name, "%d", count);
        ftruncate(open(name, O_RDWR | O_CREAT, 0644), 16 * MIB);
    }
    return verdict(0);
}
