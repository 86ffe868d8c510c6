/* attack: the exit code -1
 * expect: exit_nonzero 255
 * elsewhere: no
 */
#include "attack.h"

int main(void) { exit(-1); }
