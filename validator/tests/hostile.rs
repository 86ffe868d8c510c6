//! Hostile input: the check must end soon, without a panic, and with a refusal. The time limit is
//! generous for a debug build, but too short for quadratic work on 256 KiB.

use crate::support;
use std::time::{Duration, Instant};
use support::{checked, valid};
use validator::{REQUEST_BYTES_MAX, check_result};

const SOON: Duration = Duration::from_secs(5);

fn attack(name: &str, bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(REQUEST_BYTES_MAX)];
    let ends_soon = || {
        let start = Instant::now();
        let rows = checked(bytes).violations.len();
        let spent = start.elapsed();
        println!("{name:?}: {rows} rows, {spent:?}");
        assert!(rows <= 1000, "{name:?}: {rows}");
        spent < SOON
    };
    // A pause of this process makes one attempt slow, but not three.
    assert!((0..3).any(|_| ends_soon()), "{name:?}: never within {SOON:?}");
}

const PIECES: [&str; 46] = [
    "[",
    "]",
    "\"",
    "`",
    "'",
    "*",
    "_",
    "(",
    "<",
    "{",
    "}",
    "\\",
    "$",
    "&",
    "|",
    "~",
    "#",
    "##\n",
    "> ",
    "- ",
    "1. ",
    "<!--",
    "<a ",
    "![](",
    "[a](",
    "]: ",
    "**a",
    "`a",
    "``a",
    "&amp",
    "\0",
    "\r",
    "\u{202e}",
    "\u{200b}",
    "/etc ",
    "/in/a ",
    "password:",
    "password= ",
    "://",
    "eyJ.",
    "sk-",
    "pip install ",
    "a\n---\n",
    "## Command\n",
    "<![CDATA[",
    "\t",
];

#[test]
fn one_piece_repeated() {
    for piece in PIECES {
        let many = piece.repeat(REQUEST_BYTES_MAX / piece.len());
        attack(piece, many.as_bytes());
        assert!(check_result(many.as_bytes(), "x.md").len() <= 1000);
        let rest = REQUEST_BYTES_MAX - valid().len() - 100;
        let many = piece.repeat(rest / piece.len());
        attack(
            &format!("prose {piece:?}"),
            support::with("# Statistics of one table", &many).as_bytes(),
        );
        attack(
            &format!("command {piece:?}"),
            support::command(&format!("python {many}")).as_bytes(),
        );
        attack(&format!("inputs {piece:?}"), support::with("- `/in/script.py`", &many).as_bytes());
        let many = piece.repeat(60_000 / piece.len());
        attack(&format!("yaml {piece:?}"), format!("---\na: {many}\n---\n").as_bytes());
        attack(&format!("yaml2 {piece:?}"), format!("---\n{many}\n---\n").as_bytes());
    }
}

#[test]
fn deep_and_wide_yaml() {
    let deep: String = (0..300).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let wide: String = (0..9000).map(|n| format!("k{n}: 1\n")).collect();
    let lists = "- ".repeat(20_000);
    let flow = format!("a: {}", "{a: ".repeat(10_000));
    let bomb = "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n".repeat(500);
    for yaml in [deep, wide, lists, flow, bomb, "? ".repeat(10_000), "a: |\n".repeat(9000)] {
        attack("yaml", format!("---\n{yaml}\n---\n").as_bytes());
    }
}

#[test]
fn not_text() {
    attack("ff", &vec![0xff; REQUEST_BYTES_MAX]);
    attack("zero", &vec![0; REQUEST_BYTES_MAX]);
    attack("cut", &valid().as_bytes()[..700]);
    attack("empty", b"");
    attack("fence", b"---");
    attack("fences", b"---\n---\n");
    attack("crcrlf", b"---\r\r\n---\r\r\n");
}

#[test]
fn every_prefix_and_every_lost_byte() {
    let text = valid().into_bytes();
    for end in 0..text.len() {
        assert!(!checked(&text[..end]).violations.is_empty() || end + 10 > text.len());
        let mut other = text.clone();
        other[end] = other[end].wrapping_add(97);
        drop(checked(&other));
    }
}
