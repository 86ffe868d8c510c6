/* attack: a file that is deleted while it is open
 * expect: ok
 * lacks: gone
 */
#include "attack.h"

int main(void) {
    go_out();
    int file = open("gone", O_RDWR | O_CREAT, 0644);
    unlink("gone");
    write(file, "x", 1);
    return verdict(0);
}
