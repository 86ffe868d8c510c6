/* attack: reading the memory of its parent
 * expect: seccomp_violation
 * names: process_vm_readv
 */
#include "attack.h"
#include <sys/uio.h>

ONE_CALL("process_vm_readv", syscall(SYS_process_vm_readv, getppid(), (struct iovec[]){{(char[8]){0}, 8}}, 1, (struct iovec[]){{(void *)0x400000, 8}}, 1, 0))
