/* attack: exit code 137, which is no signal
 * expect: exit_nonzero 137
 * elsewhere: no
 */
#include "attack.h"

int main(void) { exit(137); }
