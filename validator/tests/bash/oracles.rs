//! The interface to the two oracles: bash itself, and bashlex if Python has it. No part of a line
//! may run: a line with an active `$`, backquote or parenthesis is only parsed, never expanded.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The effect of a `$` or a backquote in the line, determined without the tokenizer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DollarUse {
    None,
    /// Only before a blank or another character that does not begin a parameter.
    Idle,
    Live,
}

#[derive(Debug)]
pub(crate) struct BashReading {
    pub(crate) dollar: DollarUse,
    flags: String,
    pub(crate) words: Vec<String>,
}

impl BashReading {
    /// Returns true if the line parses as a command.
    pub(crate) fn is_command(&self) -> bool {
        self.flags.contains('s')
    }

    /// Returns true if the line consists of words only, without operators and comments.
    pub(crate) fn is_words(&self) -> bool {
        self.flags.contains('w')
    }

    pub(crate) fn begins_with_keyword(&self) -> bool {
        self.flags.contains('k')
    }

    pub(crate) fn begins_with_assignment(&self) -> bool {
        self.flags.contains('a')
    }

    /// Returns true if bash expanded the line; otherwise the next three methods are meaningless.
    pub(crate) fn is_expanded(&self) -> bool {
        self.flags.contains('e')
    }

    pub(crate) fn has_home(&self) -> bool {
        self.flags.contains('t')
    }

    pub(crate) fn has_braces(&self) -> bool {
        self.flags.contains('b')
    }

    pub(crate) fn has_pattern(&self) -> bool {
        self.flags.contains('g')
    }

    /// Returns true for one simple command whose words need no expansion.
    pub(crate) fn is_plain(&self) -> bool {
        let expands = self.has_home() || self.has_braces() || self.has_pattern();
        self.is_command()
            && self.is_words()
            && !self.begins_with_keyword()
            && !self.begins_with_assignment()
            && self.is_expanded()
            && !expands
    }
}

#[derive(Debug)]
pub(crate) enum BashlexReading {
    /// One simple command with this number of words.
    Words(usize),
    Features(Vec<String>),
    Error,
}

/// An empty directory, so that no pattern matches a file.
struct EmptyTestDirectory(PathBuf);

impl EmptyTestDirectory {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("toolexec-bash-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for EmptyTestDirectory {
    fn drop(&mut self) {
        // It is empty, so a leftover is harmless.
        drop(std::fs::remove_dir(&self.0));
    }
}

pub(crate) fn bash_works() -> bool {
    let exit = Command::new("bash").args(["--norc", "--noprofile", "-c", "exit 7"]).status();
    exit.is_ok_and(|status| status.code() == Some(7))
}

/// Returns bash's reading of each of these lines; it never runs them.
pub(crate) fn bash(lines: &[String]) -> Vec<BashReading> {
    let dollars: Vec<DollarUse> = lines.iter().map(|line| dollar(line)).collect();
    let mut input = String::new();
    for (line, dollar) in lines.iter().zip(&dollars) {
        assert!(!leaves_body(line), "would end the body of the oracle's function: {line}");
        let safe = *dollar != DollarUse::Live && !has_bare_operator(line) && !is_too_large(line);
        input.push(if safe { '+' } else { '-' });
        input.push_str(line);
        input.push('\n');
    }
    let empty = EmptyTestDirectory::new();
    let mut command = Command::new("bash");
    command.args(["--norc", "--noprofile", "-c", include_str!("oracle.bash")]);
    // The path of bash itself, because the script has no PATH.
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("LC_ALL", "C.UTF-8");
    let output = run_oracle(command.current_dir(&empty.0), input);
    let mut fields = output.strip_suffix('\0').unwrap().split('\0');
    let seen: Vec<BashReading> =
        dollars.into_iter().map(|dollar| next(dollar, &mut fields)).collect();
    assert_eq!(fields.next(), None, "bash said more than it was asked");
    seen
}

fn next<'a>(dollar: DollarUse, fields: &mut impl Iterator<Item = &'a str>) -> BashReading {
    let flags = fields.next().unwrap().to_owned();
    let count = fields.next().unwrap().parse().unwrap();
    let words = fields.take(count).map(str::to_owned).collect();
    BashReading { dollar, flags, words }
}

/// Returns bashlex's reading of each of these lines; the error is the reason why it is unavailable.
pub(crate) fn bashlex(lines: &[String]) -> Result<Vec<BashlexReading>, String> {
    let python = std::env::var_os("TOOLEXEC_PYTHON").unwrap_or_else(|| "python3".into());
    let there = Command::new(&python).args(["-c", "import bashlex"]).output();
    let there = there.map_err(|error| format!("{}: {error}", Path::new(&python).display()))?;
    if !there.status.success() {
        return Err("Python has no bashlex".to_owned());
    }
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut command = Command::new(&python);
    let output = run_oracle(command.args(["-c", include_str!("oracle.py")]), input);
    let parsed: Vec<BashlexReading> = output.lines().map(parsed).collect();
    assert_eq!(parsed.len(), lines.len());
    Ok(parsed)
}

fn parsed(json: &str) -> BashlexReading {
    let mut items: Vec<String> = serde_json::from_str(json).unwrap();
    let kind = items.remove(0);
    match kind.as_str() {
        "words" => BashlexReading::Words(items.len()),
        "features" => BashlexReading::Features(items),
        _ => BashlexReading::Error,
    }
}

fn run_oracle(command: &mut Command, input: String) -> String {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the oracle ended with {}", output.status);
    writer.join().unwrap().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Returns each unescaped character outside single quotes, with its quote and the next character.
fn bare(line: &str) -> Vec<(Option<char>, char, char)> {
    let (mut quote, mut found) = (None, Vec::new());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or(' ');
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => drop(chars.next()),
            (None, '\'' | '"') => quote = Some(c),
            _ => found.push((quote, c, next)),
        }
    }
    found
}

fn dollar(line: &str) -> DollarUse {
    let live = |&(quote, c, next): &(Option<char>, char, char)| {
        let names = next.is_ascii_alphanumeric() || "_@*#?$!-({[".contains(next);
        c == '`' || c == '$' && (names || (quote.is_none() && (next == '\'' || next == '"')))
    };
    let bare = bare(line);
    if bare.iter().any(live) {
        DollarUse::Live
    } else if bare.iter().any(|(_, c, _)| *c == '$') {
        DollarUse::Idle
    } else {
        DollarUse::None
    }
}

fn has_bare_operator(line: &str) -> bool {
    bare(line).iter().any(|(quote, c, _)| quote.is_none() && "()<>|&;".contains(*c))
}

/// Returns true for lines such as `{1..99999999}`, which would exhaust bash's memory.
fn is_too_large(line: &str) -> bool {
    const DIGITS_MAX: usize = 4;
    let pieces: Vec<&str> = line.split("..").collect();
    let digit = |c: char| c.is_ascii_digit();
    let far = |number: &str| number.len() > DIGITS_MAX;
    pieces.windows(2).any(|pair| {
        let (before, after) = (pair[0], pair[1].trim_start_matches(['+', '-']));
        far(&before[before.trim_end_matches(digit).len()..])
            || far(&after[..after.len() - after.trim_start_matches(digit).len()])
    })
}

/// Returns true if a line might end the body of the oracle's function and thereby run something.
pub(crate) fn leaves_body(line: &str) -> bool {
    ["}", ")", "done", "esac", "fi"].iter().all(|word| line.contains(word))
}
