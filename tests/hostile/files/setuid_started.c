/* attack: being a setuid program of root from the start
 * expect: ok
 * stdout: gained nothing
 * needs: setuid root
 */
#include "attack.h"

int main(void) {
    uid_t real, effective, saved;
    getresuid(&real, &effective, &saved);
    int gained = real != effective || real != saved;
    puts(gained ? "gained root" : "gained nothing");
    return verdict(gained);
}
