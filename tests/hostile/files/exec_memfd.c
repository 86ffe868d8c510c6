/* attack: a program without a file
 * needs: /proc/sys/vm/memfd_noexec
 * expect: ok
 * stdout: fexecve EACCES or memfd_create ENOSYS or fexecve EPERM
 */
#include "attack.h"

int main(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "again")) return closed(1);
    static char block[4 << 20];
    long length = read(open("/proc/self/exe", O_RDONLY), block, sizeof block);
    int copy = memfd_create("copy", 0);
    if (copy < 0) return closed(attempt("memfd_create", -1));
    write(copy, block, length);
    attempt("fexecve", fexecve(copy, (char *[]){"copy", "again", NULL}, environ));
    return closed(0);
}
