/* attack: three times the memory
 * expect: memory_limit
 * limits: memory_mb=64
 */
#include "attack.h"

int main(void) {
    char *memory = malloc(192 * MIB);
    if (memory) touch(memory, 192 * MIB);
    return limited(memory != NULL);
}
