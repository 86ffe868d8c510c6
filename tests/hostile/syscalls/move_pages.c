/* attack: where pages of its parent lie
 * expect: ok
 * stdout: move_pages EPERM or move_pages ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("move_pages", syscall(SYS_move_pages, getppid(), 1L, (void *[]){(void *)0x400000}, NULL, (int[1]){0}, 0))
