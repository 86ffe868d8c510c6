/* attack: the handle of a file, to open it by where there is no check
 * expect: ok
 * stdout: name_to_handle_at EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("name_to_handle_at", name_to_handle_at(AT_FDCWD, "/in/script.py", (struct file_handle *)(char[160]){128}, (int[1]){0}, 0))
