/* attack: being spared when the whole host is out of memory
 * expect: ok
 * stdout.user: score 1000
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    char score[16] = "";
    int file = open("/proc/self/oom_score_adj", O_RDONLY);
    if (file < 0 || read(file, score, sizeof score - 1) < 0) return 9;
    printf("score %s", score);
    return verdict(attempt("open", open("/proc/self/oom_score_adj", O_WRONLY)));
}
