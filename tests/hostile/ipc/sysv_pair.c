/* attack: a System V queue between two runs
 * expect: ok
 * stdout: msgget DONE
 * stdout.user: msgget ENOSYS
 * together: 2
 */
#include "attack.h"
#include <sys/msg.h>

int main(void) {
    int alone = attempt("msgget", msgget(0x70657870, IPC_CREAT | IPC_EXCL | 0666));
    sleep_ms(1000);
    return verdict(!alone && errno == EEXIST);
}
