/* attack: a processor for ever
 * expect: cpu_limit
 * limits: cpu_sec=1
 * within: 6
 */
#include "attack.h"

int main(void) {
    for (;;) {}
}
