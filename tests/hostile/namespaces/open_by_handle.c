/* attack: a file by its handle, which goes round every directory (the "shocker" escape)
 * expect: seccomp_violation
 * names: open_by_handle_at
 */
#include "attack.h"

ONE_CALL("open_by_handle_at", open_by_handle_at(open("/in", O_RDONLY), (struct file_handle *)(char[64]){8, 0, 0, 0, 1}, O_RDONLY))
