//! Entries that are refused for their kind, their headers or the target of a hard link.

use tar::EntryType;

use super::entry_trap::{EntryTrap, behind_link, check, new, one};
use super::layer_archive::header;

#[test]
fn hard_links_to_other_than_earlier_files_are_refused() {
    let traps: &[EntryTrap] = &[
        ("absolute", || vec![new().hard_link("a", "/etc/passwd")], "leads out of the image"),
        ("parent", || vec![new().hard_link("a", "../beside/secret")], "leads out of the image"),
        ("no target", || vec![new().hard_link("a", "")], "leads out of the image"),
        (
            "through a link",
            || behind_link(new().hard_link("a", "out/secret")),
            "leads through a symbolic link",
        ),
        ("to a link", || behind_link(new().hard_link("a", "out")), "other than a file"),
        ("to a directory", || vec![new().directory("a").hard_link("b", "a")], "other than a file"),
        ("to the top", || vec![new().hard_link("a", "./")], "other than a file"),
        ("to nothing", || vec![new().hard_link("a", "b")], "does not have before it"),
        (
            "to a later file",
            || vec![new().hard_link("a", "b").file("b", b"x")],
            "does not have before it",
        ),
        (
            "to a file that it replaces",
            || vec![new().file("a/b", b"x").hard_link("a", "a/b")],
            "does not have before it",
        ),
        ("to itself", || vec![new().file("a", b"x").hard_link("a", "./a")], "leads to itself"),
        (
            "with content",
            || vec![new().file("a", b"x").entry(EntryType::Link, b"b", b"a", b"y")],
            "must have no content",
        ),
    ];
    check(traps);
}

#[test]
fn other_kinds_are_refused() {
    let traps: &[EntryTrap] = &[
        ("character device", || one(EntryType::Char, b"null", b""), "the entry is a device"),
        ("block device", || one(EntryType::Block, b"a/disk", b""), "the entry is a device"),
        ("device as `dev`", || one(EntryType::Block, b"dev", b""), "the entry is a device"),
        ("FIFO", || one(EntryType::Fifo, b"pipe", b""), "the entry is a FIFO"),
        ("socket", || one(EntryType::new(b's'), b"socket", b""), "the kind of the entry"),
        ("volume", || one(EntryType::new(b'V'), b"label", b""), "the kind of the entry"),
        ("sparse", || one(EntryType::GNUSparse, b"a", b""), "a sparse file"),
        (
            "sparse in a pax header",
            || vec![new().pax(&[("GNU.sparse.major", b"1")]).file("a", b"")],
            "a sparse file",
        ),
        (
            "directory with content",
            || vec![new().entry(EntryType::Directory, b"a/", b"", b"x")],
            "must have no content",
        ),
    ];
    check(traps);
}

#[test]
fn extended_headers_that_readers_disagree_about_are_refused() {
    let traps: &[EntryTrap] = &[
        (
            "other size",
            || vec![new().pax(&[("size", b"512")]).file("a", b"x")],
            "two headers give different sizes",
        ),
        (
            "size with a sign",
            || vec![new().pax(&[("size", b"+1")]).file("a", b"x")],
            "the extended header is invalid",
        ),
        (
            "malformed records",
            || vec![new().entry(EntryType::XHeader, b"x", b"", b"99 path=b\n").file("a", b"")],
            "the extended header is invalid",
        ),
        (
            "two pax headers",
            || vec![new().pax(&[("mtime", b"1")]).pax(&[("path", b"b")]).file("a", b"")],
            "the extended header is invalid",
        ),
        (
            "name for all entries",
            || vec![new().global(&[("path", b"b")]).file("a", b"")],
            "for all entries sets a name or a size",
        ),
        (
            "long header",
            || {
                let size = 64 * 1024 * 1024;
                vec![new().raw(header(EntryType::XHeader, b"x", b"", size), b"")]
            },
            "longer than 1 MiB",
        ),
        ("header without an entry", || vec![new().long_name("a")], "has no entry"),
    ];
    check(traps);
}

#[test]
fn invalid_whiteouts_are_refused() {
    let traps: &[EntryTrap] = &[
        ("of nothing", || vec![new().file(".wh.", b"")], "the whiteout (`.wh.`) is invalid"),
        ("of the directory", || vec![new().file("a/.wh..", b"")], "is invalid"),
        ("of the parent", || vec![new().file("a/.wh...", b"")], "is invalid"),
        ("of a whiteout", || vec![new().file(".wh..wh.plnk", b"")], "is invalid"),
        ("as a directory of the path", || vec![new().file(".wh.a/b", b"")], "is invalid"),
        ("as a directory", || vec![new().directory(".wh.a")], "is not a file"),
        ("as a link", || vec![new().symlink(".wh.a", "/")], "is not a file"),
        (
            "of all entries, twice",
            || vec![new().file("a/.wh..wh..opq", b"").file("a/.wh..wh..opq", b"")],
            "hides all entries of this directory twice",
        ),
    ];
    check(traps);
}
