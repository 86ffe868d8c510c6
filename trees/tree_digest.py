#!/usr/bin/env python3
"""Computes the digest of directories in the format "toolexec-tree 1" (docs/tree-digest.md).

    tree_digest.py [--root] DIRECTORY...

Prints the digest and the name of each directory, as sha256sum does. Exits with 1 if one is refused,
and with 2 if none is named. With --root, links are those of a root file system. It must share no
code with the Rust crate.
"""
import hashlib
import os
import stat
import sys


class Refused(Exception):
    """A tree that has no digest."""

    def __init__(self, path, reason):
        super().__init__(f"{os.fsdecode(path)}: {reason}")


def text(raw, path):
    """Returns a name or target as text without control characters, which would break a line."""
    try:
        found = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(path, "not UTF-8") from None
    if any(ord(c) < 32 or 127 <= ord(c) < 160 for c in found):
        raise Refused(path, "a control character")
    return found


def stays_inside(target, depth):
    """True if the target cannot leave the tree, even if one of its names is a link."""
    parts = [part for part in target.split("/") if part not in ("", ".")]
    up = next((at for at, part in enumerate(parts) if part != ".."), len(parts))
    return not target.startswith("/") and up <= depth and ".." not in parts[up:]


def line(entry, root, depth):
    """Returns the line of an entry; depth is that of its directory."""
    name, facts = text(entry.name, entry.path), entry.stat(follow_symlinks=False)
    if stat.S_ISDIR(facts.st_mode):
        return f"d\t{directory(entry.path, root, depth + 1)}\t{name}\n"
    if stat.S_ISLNK(facts.st_mode):
        target = text(os.readlink(entry.path), entry.path)
        if not root and not stays_inside(target, depth):
            raise Refused(entry.path, "the link may leave the tree")
        return f"l\t{target}\t{name}\n"
    if not stat.S_ISREG(facts.st_mode) or facts.st_mode & 0o6000:
        raise Refused(entry.path, "not a plain file")
    with open(entry.path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    kind = "x" if facts.st_mode & 0o111 else "f"
    return f"{kind}\t{facts.st_size}\t{digest}\t{name}\n"


def directory(path, root, depth=0):
    """Returns the digest of a directory, in hexadecimal."""
    with os.scandir(path) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    head = "" if depth else "toolexec-tree 1\n"
    lines = "".join(line(entry, root, depth) for entry in entries)
    return hashlib.sha256((head + lines).encode()).hexdigest()


def main(arguments):
    """Prints a line for each directory and returns the exit status."""
    status, root = 0, "--root" in arguments
    names = [name for name in arguments if name != "--root"]
    if not names or any(name.startswith("--") for name in names):
        print("usage: tree_digest.py [--root] DIRECTORY...", file=sys.stderr)
        return 2
    for name in names:
        try:
            print(f"{directory(os.fsencode(name), root)}  {name}")
        except Refused as reason:
            print(f"refused: {reason}", file=sys.stderr)
            status = 1
        except OSError as error:
            path = os.fsdecode(error.filename or name)
            print(f"refused: {path}: {error.strerror}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
