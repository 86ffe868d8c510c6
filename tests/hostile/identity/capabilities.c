/* attack: capabilities, and no_new_privs
 * expect: ok
 * stdout: CapInh 0
 * stdout: CapPrm 0
 * stdout: CapEff 0
 * stdout: CapBnd 0
 * stdout: CapAmb 0
 * stdout: NoNewPrivs 1
 * stdout: Seccomp 2
 */
#include "attack.h"

int main(void) {
    char line[256];
    int had = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        char name[32];
        unsigned long long value;
        if (sscanf(line, "Cap%28[A-Za-z]: %llx", name, &value) == 2) {
            printf("Cap%s %llx\n", name, value);
            had |= value != 0;
        } else if (sscanf(line, "NoNewPrivs: %llu", &value) == 1) {
            printf("NoNewPrivs %llu\n", value);
            had |= value != 1;
        } else if (sscanf(line, "Seccomp: %llu", &value) == 1) {
            printf("Seccomp %llu\n", value);
            had |= value != 2;
        }
    }
    return closed(had);
}
