/* attack: killing its process group, which has no other process
 * expect: signal 9
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    kill(0, SIGKILL);
    pause();
    return 0;
}
