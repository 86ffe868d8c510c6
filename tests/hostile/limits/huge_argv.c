/* attack: an argument list of eight MiB
 * expect: ok
 * stdout: execve E2BIG
 * elsewhere: no
 */
#include "attack.h"

int main(int count, char **words) {
    if (count > 100) return limited(1);
    static char *many[130];
    static char word[65536];
    memset(word, 'x', sizeof word - 1);
    for (int at = 0; at < 128; at++) many[at] = word;
    attempt("execve", execve("/proc/self/exe", many, NULL));
    return limited(0);
}
