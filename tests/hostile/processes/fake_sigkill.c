/* attack: exit code 137, which is not a signal
 * expect: exit_nonzero 137
 * elsewhere: no
 */
#include "attack.h"

int main(void) { exit(137); }
