//! Names and paths that are refused: each with its reason, and with nothing touched outside of the
//! tree.

use tar::{EntryType, Header};

use super::entry_trap::{EntryTrap, behind_link, check, new, one};

fn long(part: &str, times: usize) -> Vec<u8> {
    part.repeat(times).into_bytes()
}

#[test]
fn names_that_leave_the_tree_are_refused() {
    let traps: &[EntryTrap] = &[
        ("absolute name", || vec![new().file("/etc/passwd", b"x")], "the name is absolute"),
        ("parent", || vec![new().file("../beside/new", b"x")], "the name contains `..`"),
        ("parent inside", || vec![new().file("a/../../beside/new", b"x")], "contains `..`"),
        ("parent at the end", || vec![new().directory("a/..")], "contains `..`"),
        ("absolute directory", || vec![new().directory("/")], "the name is absolute"),
        (
            "absolute name in a pax header",
            || vec![new().pax(&[("path", b"/etc/passwd")]).file("harmless", b"x")],
            "the name is absolute",
        ),
        (
            "parent in a long name",
            || vec![new().long_name("a/../../beside/new").file("harmless", b"x")],
            "contains `..`",
        ),
        (
            "parent in the prefix of a name",
            || {
                let mut header = Header::new_ustar();
                header.set_size(0);
                header.set_mode(0o644);
                let fields = header.as_ustar_mut().unwrap();
                fields.name[..3].copy_from_slice(b"new");
                fields.prefix[..9].copy_from_slice(b"../beside");
                vec![new().raw(header, b"")]
            },
            "contains `..`",
        ),
    ];
    check(traps);
}

#[test]
fn odd_names_are_refused() {
    let traps: &[EntryTrap] = &[
        ("line feed", || vec![new().file("a\nb", b"")], "a control character"),
        ("delete", || vec![new().file("a\u{7f}", b"")], "a control character"),
        ("C1", || vec![new().file("a\u{85}b", b"")], "a control character"),
        ("escape", || vec![new().file("\u{1b}[2Ja", b"")], "a control character"),
        (
            "NUL in a long name",
            || vec![new().long_name("a\0b").file("harmless", b"")],
            "a control character",
        ),
        ("not UTF-8", || one(EntryType::Regular, b"a\xff", b""), "the name is not UTF-8"),
        ("no name", || one(EntryType::Regular, b"", b""), "the name is empty"),
        ("a file as the top", || one(EntryType::Regular, b".", b""), "the name is empty"),
        ("a link as the top", || one(EntryType::Symlink, b".", b"/"), "the name is empty"),
        ("file with a slash", || one(EntryType::Regular, b"a/", b""), "the name ends in `/`"),
        (
            "long part",
            || vec![new().pax(&[("path", &long("a", 256))]).file("harmless", b"")],
            "longer than 255 bytes",
        ),
        (
            "two names",
            || vec![new().long_name("a").pax(&[("path", b"b")]).file("c", b"")],
            "two extended headers name the entry",
        ),
        (
            "two names in one header",
            || vec![new().pax(&[("path", b"a"), ("path", b"b")]).file("c", b"")],
            "two extended headers name the entry",
        ),
    ];
    check(traps);
}

#[test]
fn entries_through_links_are_refused() {
    let traps: &[EntryTrap] = &[
        (
            "link and file in one layer",
            || vec![new().symlink("out", "../beside").file("out/new", b"x")],
            "a directory of the path is a symbolic link",
        ),
        (
            "absolute link",
            || vec![new().symlink("out", "/tmp").file("out/new", b"x")],
            "a directory of the path is a symbolic link",
        ),
        (
            "link of an earlier layer",
            || behind_link(new().file("out/new", b"x")),
            "a directory of the path is a symbolic link",
        ),
        (
            "link inside the tree",
            || vec![new().directory("a").symlink("b", "a").file("b/new", b"x")],
            "a directory of the path is a symbolic link",
        ),
        (
            "directory below a link",
            || behind_link(new().directory("out/below/deep")),
            "a directory of the path is a symbolic link",
        ),
        (
            "whiteout behind a link",
            || behind_link(new().file("out/.wh.secret", b"")),
            "a directory of the path is a symbolic link",
        ),
        (
            "opaque whiteout behind a link",
            || behind_link(new().file("out/.wh..wh..opq", b"")),
            "a directory of the path is a symbolic link",
        ),
        (
            "file as a directory",
            || vec![new().file("a", b"").file("a/b", b"")],
            "a directory of the path is a file",
        ),
        ("no target", || one(EntryType::Symlink, b"a", b""), "the target of the link"),
        ("target with LF", || one(EntryType::Symlink, b"a", b"b\nc"), "the target of the link"),
        ("target not UTF-8", || one(EntryType::Symlink, b"a", b"\xff"), "the target of the link"),
        (
            "long target",
            || vec![new().pax(&[("linkpath", &long("a/", 2048))]).symlink("a", "b")],
            "the target of the link",
        ),
    ];
    check(traps);
}
