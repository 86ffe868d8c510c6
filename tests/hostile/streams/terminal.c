/* attack: sequences that a terminal obeys: its title, its answers, its clipboard
 * expect: ok
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) {
    for (int stream = 1; stream <= 2; stream++)
        dprintf(stream, "\033]0;owned\007\033[6n\033]52;c;b3duZWQ=\007\033[2J\x9b" "31m\r\b\n");
    return verdict(0);
}
