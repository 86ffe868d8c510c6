/* attack: an exit code that is 0 in its low byte
 * expect: ok
 * elsewhere: no
 */
#include "attack.h"

int main(void) { exit(256); }
