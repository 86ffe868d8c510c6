/* attack: code of its own from a file in /tmp, mapped
 * expect: ok
 * stdout: mmap EPERM or mmap EACCES
 */
#include "attack.h"

int main(void) {
    int file = open("/tmp/code", O_RDWR | O_CREAT, 0755);
    ftruncate(file, 4096);
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    return closed(attempt("mmap", code == MAP_FAILED ? -1 : 0));
}
