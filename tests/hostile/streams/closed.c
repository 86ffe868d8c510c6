/* attack: closing its streams
 * expect: ok
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    close(0);
    close(1);
    close(2);
    sleep_ms(100);
    return 0;
}
