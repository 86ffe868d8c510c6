/* attack: a program that it has written itself, in /tmp
 * expect: ok
 * stdout: execve EACCES
 */
#include "attack.h"

int main(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "again")) return closed(1);
    static char block[4 << 20];
    int self = open("/proc/self/exe", O_RDONLY);
    long length = read(self, block, sizeof block);
    int copy = open("/tmp/copy", O_WRONLY | O_CREAT, 0755);
    write(copy, block, length);
    close(copy);
    attempt("execve", execl("/tmp/copy", "copy", "again", NULL));
    return closed(0);
}
