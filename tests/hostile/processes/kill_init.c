/* attack: every signal to pid 1
 * expect: ok
 * stdout: pid 1 lives
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    for (int number = 1; number < 65; number++) kill(1, number);
    sleep_ms(50);
    puts(kill(1, 0) < 0 && errno == ESRCH ? "pid 1 is gone" : "pid 1 lives");
    return verdict(0);
}
