/* attack: characters that make a line read as another
 * expect: ok
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) {
    puts("access \xe2\x80\xae" "detnarg\xe2\x80\xac \xe2\x81\xa6 \xe2\x80\x8b");
    return verdict(0);
}
