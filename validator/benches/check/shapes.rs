//! Requests of maximum size, each hostile to one part of the check, which it must reach.

use validator::REQUEST_BYTES_MAX;

/// Just below the limit of the front matter.
const FRONT_BYTES: usize = 63 * 1024;
/// Just below the limit of the command line.
const COMMAND_BYTES: usize = 127 * 1024;

/// A harmless line of prose.
const LINE: &str =
    "The script reads the table once and writes two files; a row without a value is left out.\n";
const PROSE: &str = "# Seattle weather, 2012 to 2015";
const COMMAND: &str = "python stats.py";
const INPUTS: &str = "## Input Files\n";

fn fill(piece: &str, bytes: usize) -> String {
    piece.repeat(bytes / piece.len())
}

/// Returns the request with a piece of it replaced by this text.
pub(crate) fn with(request: &str, from: &str, to: &str) -> Vec<u8> {
    assert!(request.contains(from), "not in the request: {from}");
    request.replacen(from, to, 1).into_bytes()
}

/// Returns a request with a heading and ordinary prose up to this size.
pub(crate) fn ordinary(request: &str, bytes: usize) -> Vec<u8> {
    let line = "The script reads the table once and writes two files; a row without a value is \
                counted (see `stats.py`),\nand left out of the *means*. It takes 1.5 s at most.\n";
    let rest = bytes - request.len() - 2;
    with(request, PROSE, &format!("{PROSE}\n\n{}", fill(line, rest)))
}

/// Returns every shape with its name; `request` is a valid one.
pub(crate) fn all(request: &str) -> Vec<(String, Vec<u8>)> {
    let rest = REQUEST_BYTES_MAX - request.len() - 16;
    let mut shapes = Vec::new();
    for (name, piece) in BODIES {
        let body = format!("{PROSE}\n\n{}", fill(piece, rest));
        shapes.push((format!("text: {name}"), with(request, PROSE, &body)));
    }
    for (name, head, piece) in FRONTS {
        let yaml = format!("---\n{head}{}\n---\n", fill(piece, FRONT_BYTES));
        shapes.push((format!("yaml: {name}"), (yaml + &fill(LINE, rest - FRONT_BYTES)).into()));
    }
    for (name, piece) in COMMANDS {
        let line = format!("python stats.py {} ", fill(piece, COMMAND_BYTES));
        shapes.push((format!("command: {name}"), with(request, COMMAND, &line)));
    }
    for (name, piece) in ITEMS {
        let items = format!("{INPUTS}\n{}", fill(piece, rest));
        shapes.push((format!("items: {name}"), with(request, INPUTS, &items)));
    }
    shapes.push(("yaml: many short keys".to_owned(), many_keys(rest)));
    shapes.push(("items: all declared".to_owned(), declared(request)));
    shapes.push(("bytes: not UTF-8".to_owned(), vec![0xff; REQUEST_BYTES_MAX]));
    shapes.push(("bytes: an error a line".to_owned(), fill(ERRORS, REQUEST_BYTES_MAX).into()));
    shapes
}

/// Returns distinct keys: too much front matter for a request, but not for a result.
fn many_keys(length: usize) -> Vec<u8> {
    let keys: String = (0..length / 7).map(|n| format!("{n:05x}:\n")).collect();
    format!("---\n{keys}---\n").into_bytes()
}

/// Returns as many inputs as fit, each listed many times, with distinct lines.
fn declared(request: &str) -> Vec<u8> {
    let digest = "0e3a1f5b7c9d2e4f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7";
    let count = FRONT_BYTES / 96;
    let yaml: String =
        (0..count).map(|n| format!("  - name: f{n:04}\n    sha256: {digest}\n")).collect();
    let line: String = (0..count).map(|n| format!(" /in/f{n:04}")).collect();
    let rest = REQUEST_BYTES_MAX - request.len() - yaml.len() - 64;
    let items = format!("{INPUTS}\n{}\n", fill(&format!("{line}\n"), rest));
    let text = request.replacen("inputs:\n", &format!("inputs:\n{yaml}"), 1);
    with(&text, INPUTS, &items)
}

const ERRORS: &str = "## password=hunter2hunter2 \u{202e} /etc/x, now run pip install y\n";

const BODIES: &[(&str, &str)] = &[
    ("one long line of words", "word after word, "),
    ("one word", "a"),
    ("many short lines", "a\n"),
    ("empty lines", "\n"),
    ("no letter is ASCII", "日本語のテキスト ünïcödé 😀 "),
    ("invisible", "\u{200b}"),
    ("bidi lines", "\u{202e}\n"),
    ("control lines", "\u{7}\n"),
    ("carriage returns", "\r"),
    ("emphasis", "**a_ "),
    ("emphasis, closed", "*a* **b**"),
    ("links", "[a]("),
    ("links, closed", "[a](b) "),
    ("images", "![["),
    ("definitions", "[a]: b\n"),
    ("backticks", "`a``b"),
    ("HTML", "<a href='x'>"),
    ("HTML comments", "<!-- "),
    ("CDATA", "<![CDATA["),
    ("blockquotes", "> "),
    ("blockquote lines", "> > > a\n"),
    ("lists", "- "),
    ("list lines", "- a\n"),
    ("ordered list lines", "  1. a\n"),
    ("entities", "&amp;"),
    ("fences", "```\n"),
    ("sections", "## a\n"),
    ("titles", "# a\n"),
    ("underlined titles", "a\n---\n"),
    ("host paths", "/etc/x "),
    ("host path lines", "/etc/x\n"),
    ("installations", "pip install x, "),
    ("installation lines", "Run pip install x\n"),
    ("`password=`", "password="),
    ("`password: `", "password: "),
    ("passwords", "password=hunter2hunter2 "),
    ("password lines", "password=hunter2hunter2\n"),
    ("prefixes", "sk-ghp_eyJ.AKIA."),
    ("prefixes, spaced", "sk- ghp_ eyJ. AKIA xoxb- "),
    ("bearer", "bearer "),
    ("keys", "-----BEGIN "),
    ("URLs", "a://b:c"),
    ("URLs, spaced", "a://b:c@d "),
];

const FRONTS: &[(&str, &str, &str)] = &[
    ("lines", "", "k: v\n"),
    ("one list", "a:\n", "- b\n"),
    ("deep lists", "", "- "),
    ("flow list", "a: [", "b,"),
    ("flow map", "a: {", "b: c,"),
    ("deep flow", "a: ", "[{b: "),
    ("block scalar", "a: |\n", "  text\n"),
    ("block scalars", "", "k: |\n  a\n"),
    ("folded scalar", "a: >\n", "  text\n\n"),
    ("plain over lines", "a:\n", "  text\n"),
    ("one double-quoted", "a: \"", "\\u0041\\n"),
    ("one single-quoted", "a: '", "''b"),
    ("comments", "", "# c\n"),
    ("anchors", "", "k: &a b\n"),
    ("tags", "a:\n", "- !t b\n"),
    ("question marks", "", "? "),
    ("empty lines", "a: b", "\n"),
    ("one long key", "", "k"),
    ("not ASCII", "a: ", "ü"),
];

const COMMANDS: &[(&str, &str)] = &[
    ("words", "a "),
    ("one word", "a"),
    ("single quotes", "'"),
    ("double quotes", "\""),
    ("quoted words", "'a b' "),
    ("backslashes", "\\"),
    ("braces", "{"),
    ("braces, closed", "{a,b}"),
    ("ranges", "{1..2}"),
    ("substitutions", "$("),
    ("backquotes", "`"),
    ("parentheses", "(("),
    ("paths", "/etc/x "),
    ("climbing", "../"),
    ("assignments", "a=/b:"),
    ("operators", "|;&"),
    ("passwords", "--password=hunter2hunter2 "),
    ("not ASCII", "ü"),
];

const ITEMS: &[(&str, &str)] = &[
    ("undeclared lines", "- /in/other.csv\n"),
    ("undeclared on a line", "/in/other.csv "),
    ("roots", "/in/"),
    ("listed again and again", "- /in/stats.py\n"),
    ("digests", "/in/a e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n"),
];
