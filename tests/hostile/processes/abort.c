/* attack: abort(3), which must be recorded as signal 6
 * expect: signal 6
 * elsewhere: no
 */
#include "attack.h"

int main(void) { abort(); }
