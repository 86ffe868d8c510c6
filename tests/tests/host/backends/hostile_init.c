/* The first process of a hostile guest (hostile_guest.rs). One of these names is defined:

   ARCHIVE   writes to both read-only disks, archives a name outside of /out, and reports a good end
   STATUS    sends nonsense in place of messages
   FLOOD     prints 100 MB as the tool, and reports a good end
   POWEROFF  switches the machine off while the tool runs
   RESTART   restarts the machine before the tool starts: reboot=t is a triple fault
   SILENT    sends no message
*/

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FLOOD_BYTES 100000000

static void load_modules(void) {
    char name[128], path[160];
    FILE *order = fopen("/modules/order", "r");
    while (order && fscanf(order, "%127s", name) == 1) {
        snprintf(path, sizeof path, "/modules/%s", name);
        int file = open(path, O_RDONLY);
        syscall(SYS_finit_module, file, "", 0);
        close(file);
    }
}

/* Returns the disk with a serial number. */
static int disk_of(const char *name, int flags) {
    char path[64], serial[32];
    for (char letter = 'a'; letter <= 'c'; letter++) {
        snprintf(path, sizeof path, "/sys/block/vd%c/serial", letter);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        int found = fscanf(file, "%31s", serial) == 1 && strcmp(serial, name) == 0;
        fclose(file);
        if (!found) continue;
        snprintf(path, sizeof path, "/dev/vd%c", letter);
        return open(path, flags);
    }
    return -1;
}

/* Returns a port of the serial device, which may have any number. */
static int port_of(int number) {
    char path[64];
    for (int device = 0; device < 8; device++) {
        snprintf(path, sizeof path, "/dev/vport%dp%d", device, number);
        int port = open(path, O_RDWR);
        if (port >= 0) return port;
    }
    return -1;
}

/* Writes an archive with one empty file, or an empty one. */
static void write_archive(int disk, const char *name) {
    static unsigned char blocks[1536];
    unsigned sum = 0;
    if (name) {
        memcpy(blocks, name, strlen(name));
        memcpy(blocks + 100, "0000644", 7);
        memcpy(blocks + 108, "0000000", 7);
        memcpy(blocks + 116, "0000000", 7);
        memcpy(blocks + 124, "00000000000", 11);
        memcpy(blocks + 136, "00000000000", 11);
        memset(blocks + 148, ' ', 8);
        blocks[156] = '0';
        memcpy(blocks + 257, "ustar\0" "00", 8);
        for (int i = 0; i < 512; i++) sum += blocks[i];
        snprintf((char *)blocks + 148, 7, "%06o", sum);
    }
    write(disk, blocks, sizeof blocks);
    fsync(disk);
}

static void send(int port, uint32_t kind, const void *payload, uint32_t length) {
    unsigned char message[256] = "TXS2";
    memcpy(message + 4, &kind, 4);
    memcpy(message + 8, &length, 4);
    memcpy(message + 12, payload, length);
    write(port, message, 12 + length);
}

static void send_start(int port) { send(port, 1, "\5\0\0\0" "6.1.0", 9); }

static void send_end(int port, uint64_t entries, uint64_t output_bytes) {
    char ended[27] = {0};
    uint64_t written[2] = {entries, 0};
    memcpy(ended + 19, &output_bytes, sizeof output_bytes);
    send(port, 2, ended, sizeof ended);
    send(port, 4, written, sizeof written);
}

/* Writes over the beginning of a disk, and says on the console what became of it. */
static void overwrite(const char *name) {
    static char block[4096];
    int disk = disk_of(name, O_RDWR | O_SYNC);
    int wrote = disk >= 0 && write(disk, block, sizeof block) > 0 && fsync(disk) == 0;
    FILE *console = fopen("/dev/console", "w");
    if (!console) return;
    fprintf(console, "disk %s: %s\n", name, wrote ? "WRITTEN" : "read-only");
    fclose(console);
}

static void print_much(void) {
    static char block[1 << 16];
    int port = port_of(2);
    memset(block, 'x', sizeof block);
    for (long done = 0, count; done < FLOOD_BYTES; done += count)
        if ((count = write(port, block, sizeof block)) < 0) break;
}

static void misbehave(int disk, int port) {
#if defined ARCHIVE
    overwrite("root");
    overwrite("in");
    write_archive(disk, "../evil");
    send_start(port);
    send_end(port, 1, 0);
#elif defined STATUS
    send_start(port);
    write(port, "a shell of your host\n", 21);
#elif defined FLOOD
    write_archive(disk, NULL);
    send_start(port);
    print_much();
    send_end(port, 0, FLOOD_BYTES);
#elif defined POWEROFF
    send_start(port);
    sleep(1);
    reboot(RB_POWER_OFF);
    reboot(RB_AUTOBOOT);
#elif defined RESTART
    reboot(RB_AUTOBOOT);
#elif defined SILENT
    puts("this guest says nothing");
#else
#error "name a mode"
#endif
}

int main(void) {
    int disk = -1, port = -1;
    setvbuf(stdout, NULL, _IONBF, 0);
    mount("dev", "/dev", "devtmpfs", 0, NULL);
    mount("sys", "/sys", "sysfs", 0, NULL);
    load_modules();
    for (int i = 0; i < 2000 && (disk < 0 || port < 0); i++, usleep(2000)) {
        if (disk < 0) disk = disk_of("out", O_WRONLY);
        if (port < 0) port = port_of(1);
    }
    /* The host's side may not be connected yet. */
    usleep(500000);
    misbehave(disk, port);
    for (;;) sleep(1);
}
