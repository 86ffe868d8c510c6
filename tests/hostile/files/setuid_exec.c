/* attack: a setuid program of root
 * expect: ok
 * stdout: gained nothing
 * needs: setuid root
 */
#include "attack.h"

int main(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "again")) {
        uid_t real, effective, saved;
        getresuid(&real, &effective, &saved);
        int gained = real != effective || real != saved;
        puts(gained ? "gained root" : "gained nothing");
        return verdict(gained);
    }
    char self[PATH_MAX] = {0};
    readlink("/proc/self/exe", self, sizeof self - 1);
    execl(self, "setuid", "again", NULL);
    return closed(!attempt("execve", -1));
}
