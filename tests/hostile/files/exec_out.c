/* attack: a program that it has written itself, in /out
 * expect: ok
 * stdout: execve EACCES
 * elsewhere: no
 */
#include "attack.h"

int main(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "again")) return closed(1);
    go_out();
    static char block[4 << 20];
    long length = read(open("/proc/self/exe", O_RDONLY), block, sizeof block);
    int copy = open("copy", O_WRONLY | O_CREAT, 0755);
    write(copy, block, length);
    close(copy);
    attempt("execve", execl("./copy", "copy", "again", NULL));
    unlink("copy");
    return closed(0);
}
