/* attack: a call that kills, in a child: it dies, and only its parent can see by what
 * expect: ok
 * stdout: the child is dead
 * needs: x86_64
 */
#include "attack.h"

int main(void) {
    if (fork() == 0) {
        long answer = 20;
        __asm__ volatile("int $0x80" : "+a"(answer) : : "memory");
        _exit(0);
    }
    int status;
    wait(&status);
    puts(WIFSIGNALED(status) ? "the child is dead" : "the child did it");
    return closed(!WIFSIGNALED(status));
}
