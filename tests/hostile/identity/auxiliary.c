/* attack: what the kernel tells a setuid program
 * expect: ok
 * stdout: secure 0 or secure 1
 * elsewhere: no
 */
#include "attack.h"
#include <sys/auxv.h>

int main(void) {
    printf("secure %lu\n", getauxval(AT_SECURE));
    return verdict(0);
}
