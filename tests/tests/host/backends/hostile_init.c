/* The first process of a hostile guest (microvm.rs). It writes an archive with a name outside of
   /out onto the raw disk. With ARCHIVE it then reports a good end, otherwise nonsense. */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* Returns the raw disk: the one with the serial number `out`. */
static int raw_disk(void) {
    char path[64], serial[32];
    for (char letter = 'a'; letter <= 'c'; letter++) {
        snprintf(path, sizeof path, "/sys/block/vd%c/serial", letter);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        int found = fscanf(file, "%31s", serial) == 1 && strcmp(serial, "out") == 0;
        fclose(file);
        if (!found) continue;
        snprintf(path, sizeof path, "/dev/vd%c", letter);
        return open(path, O_WRONLY);
    }
    return -1;
}

/* Returns the first port of the serial device, whatever the number of the device. */
static int control_port(void) {
    char path[64];
    for (int device = 0; device < 8; device++) {
        snprintf(path, sizeof path, "/dev/vport%dp1", device);
        int port = open(path, O_RDWR);
        if (port >= 0) return port;
    }
    return -1;
}

static void write_archive(int disk) {
    static unsigned char blocks[1536];
    unsigned sum = 0;
    memcpy(blocks, "../evil", 7);
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
    write(disk, blocks, sizeof blocks);
    fsync(disk);
}

static void send(int port, uint32_t kind, const void *payload, uint32_t length) {
    unsigned char message[256] = "TXS1";
    memcpy(message + 4, &kind, 4);
    memcpy(message + 8, &length, 4);
    memcpy(message + 12, payload, length);
    write(port, message, 12 + length);
}

int main(void) {
    int disk = -1, port = -1;
    mount("dev", "/dev", "devtmpfs", 0, NULL);
    mount("sys", "/sys", "sysfs", 0, NULL);
    load_modules();
    for (int i = 0; i < 2000 && (disk < 0 || port < 0); i++, usleep(2000)) {
        if (disk < 0) disk = raw_disk();
        if (port < 0) port = control_port();
    }
    write_archive(disk);
    /* The host's side may not be connected yet. */
    usleep(500000);
    send(port, 1, "\5\0\0\0" "6.1.0", 9);
#ifdef ARCHIVE
    static const char ended[19], written[16];
    send(port, 2, ended, sizeof ended);
    send(port, 4, written, sizeof written);
#else
    write(port, "a shell of your host\n", 21);
#endif
    for (;;) sleep(1);
}
