"""Parts of packaging/microvm/build that need exact bytes: the kernel's ELF file, the order of its
modules, and the initramfs. Reads only the files that it is given, and writes only its output."""

import lzma
import pathlib
import re
import shutil
import struct
import subprocess
import sys

# The modules that the guest needs, unless its kernel has them built in.
WANTED = ["virtio_mmio", "virtio_blk", "virtio_console", "erofs"]


def kernel(source, target):
    """Extracts the ELF file from a bzImage: QEMU starts it directly, without a boot loader."""
    image = pathlib.Path(source).read_bytes()
    if image[0x202:0x206] != b"HdrS":
        sys.exit(f"{source}: not a bzImage")
    sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (sectors + 1) * 512 + offset
    # The last four bytes are the size of the ELF file.
    payload = image[start : start + length - 4]
    elf = unpacked(source, payload)
    if elf[:4] != b"\x7fELF" or b"Xen\0" not in elf:
        sys.exit(f"{source}: its payload is not an ELF file with a PVH entry")
    pathlib.Path(target).write_bytes(elf)


def unpacked(source, payload):
    """Unpacks the payload of a kernel. That of Debian 12 is LZ4 or XZ, that of Debian 13 Zstandard."""
    if payload[:4] == b"\x02\x21\x4c\x18":
        return unpacked_by("lz4", payload)
    if payload[:6] == b"\xfd7zXZ\0":
        return lzma.LZMADecompressor().decompress(payload)
    if payload[:4] == b"\x28\xb5\x2f\xfd":
        return unpacked_by("zstd", payload)
    sys.exit(f"{source}: the payload is neither LZ4, XZ nor Zstandard")


def unpacked_by(program, payload):
    """Unpacks with a program, which is also the name of its package."""
    if shutil.which(program) is None:
        sys.exit(f"{program}: not found; help: install the package {program}")
    return subprocess.run([program, "-d", "-c"], input=payload, stdout=subprocess.PIPE, check=True).stdout


def module_name(path):
    """Returns the name of a module's file as the kernel writes it."""
    return path.name.split(".ko")[0].replace("-", "_")


def modules(directory):
    """Returns the needed modules as (name, bytes), each after those that it depends on."""
    directory = pathlib.Path(directory)
    found = {module_name(path): path for path in sorted((directory / "kernel").rglob("*.ko*"))}
    lines = (directory / "modules.builtin").read_text().splitlines()
    builtin = {module_name(pathlib.Path(line)) for line in lines}
    ordered = {}

    def add(name):
        if name in ordered or name in builtin:
            return
        if name not in found:
            sys.exit(f"{directory}: no module {name}, and the kernel has none built in")
        path = found[name]
        data = path.read_bytes()
        if path.suffix == ".xz":
            data = lzma.decompress(data)
        elif path.suffix != ".ko":
            sys.exit(f"{path}: unknown compression")
        depends = re.search(rb"(?:^|\0)depends=([^\0]*)\0", data)
        for needed in depends.group(1).decode().split(",") if depends else []:
            if needed:
                add(needed.replace("-", "_"))
        ordered[name] = data

    for name in WANTED:
        add(name)
    return list(ordered.items())


def cpio_entry(number, name, mode, data=b"", device=(0, 0)):
    """Returns one entry of the format newc, owned by root, without a time."""
    encoded = name.encode() + b"\0"
    links = 2 if mode & 0o170000 == 0o040000 else 1
    numbers = (number, mode, 0, 0, links, 0, len(data), 0, 0, *device, len(encoded), 0)
    head = b"070701" + b"".join(b"%08X" % it for it in numbers) + encoded
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)


def static_program(path):
    """Returns the bytes of a static x86-64 program. One with a loader would not start as pid 1."""
    data = pathlib.Path(path).read_bytes()
    if len(data) < 64 or data[:6] != b"\x7fELF\x02\x01" or data[18:20] != b"\x3e\0":
        sys.exit(f"{path}: not an ELF program for x86-64; help: give another --init")
    (start,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    # A program with a loader names it in the header PT_INTERP.
    if any(data[at : at + 4] == b"\3\0\0\0" for at in range(start, start + size * count, size)):
        sys.exit(f"{path}: not a static program; help: build it with -C target-feature=+crt-static")
    return data


def initrd(init, directory, target):
    """Writes the initramfs: init, its directories, two device nodes and the modules."""
    files = [(".", 0o040755, b"", (0, 0))]
    for name in ["cgroup", "dev", "modules", "proc", "root-image", "sys"]:
        files.append((name, 0o040755, b"", (0, 0)))
    # The kernel opens the console, and the runtime of init opens /dev/null, before any mount.
    files.append(("dev/console", 0o020600, b"", (5, 1)))
    files.append(("dev/null", 0o020666, b"", (1, 3)))
    files.append(("init", 0o100755, static_program(init), (0, 0)))
    loaded = modules(directory)
    order = "".join(f"{name}.ko\n" for name, _ in loaded)
    files.append(("modules/order", 0o100644, order.encode(), (0, 0)))
    for name, data in loaded:
        files.append((f"modules/{name}.ko", 0o100644, data, (0, 0)))
    files.sort()
    archive = b"".join(cpio_entry(1 + at, *file) for at, file in enumerate(files))
    archive += cpio_entry(0, "TRAILER!!!", 0)
    pathlib.Path(target).write_bytes(archive + bytes(-len(archive) % 512))
    print(order, end="")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["kernel", source, target]:
            kernel(source, target)
        case ["initrd", init, directory, target]:
            initrd(init, directory, target)
        case _:
            sys.exit("usage: guest_files.py kernel BZIMAGE ELF | initrd INIT MODULES CPIO")
