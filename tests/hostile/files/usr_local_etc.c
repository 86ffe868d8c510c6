/* attack: reading the host's own settings below /usr
 * expect: ok
 * stdout: files 0
 * elsewhere: no
 */
#include "attack.h"
#include <dirent.h>

int main(void) {
    const char *places[] = {"/usr/etc", "/usr/local/etc", "/usr/local/src"};
    int files = 0;
    for (int at = 0; at < 3; at++) {
        DIR *place = opendir(places[at]);
        for (struct dirent *entry; place && (entry = readdir(place));) files += entry->d_name[0] != '.';
    }
    printf("files %d\n", files);
    return verdict(files > 0);
}
