/* attack: a child that waits for the end of its parent and writes then
 * expect: ok
 * keeps: first
 * lacks: late
 * within: 8
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    go_out();
    write_file("first", "x");
    pid_t parent = getpid();
    if (fork() == 0) {
        setsid();
        signal(SIGTERM, SIG_IGN);
        while (getppid() == parent) {}
        sleep_ms(20);
        for (int count = 0; count < 100000; count++) {
            write_file("late", "x");
            rename("late", "late2");
        }
        _exit(0);
    }
    sleep_ms(50);
    return verdict(0);
}
