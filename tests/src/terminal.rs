//! A program on a terminal of its own, with answers to its questions.

use std::path::Path;

use crate::bench::{Bench, CliOutput};
use crate::skip;

/// Runs a program on its own terminal: waits for each prompt and types the answer.
const AT_A_TERMINAL: &str = r#"
import os, pty, select, sys
pairs, words = sys.argv[1].split("\x1f"), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(words[0], words)
shown, seen = b"", 0
def more():
    global shown
    ready, _, _ = select.select([fd], [], [], 30)
    if not ready:
        sys.exit("nothing comes; shown so far: %r" % shown)
    try:
        data = os.read(fd, 65536)
    except OSError:
        data = b""
    shown += data
    return data
for prompt, answer in zip(pairs[::2], pairs[1::2]):
    while prompt.encode() not in shown[seen:]:
        if not more():
            break
    seen = len(shown)
    os.write(fd, answer.encode() + b"\n")
while more():
    pass
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;

/// Runs `toolexec` on a terminal. Logs a skip and returns `None` if this host has no Python for it.
#[must_use]
pub fn at_a_terminal(
    bench: &Bench,
    test: &str,
    answers: &[(&str, &str)],
    words: &[&str],
) -> Option<CliOutput> {
    at_a_terminal_with(bench, test, "cat", answers, words)
}

/// Like [`at_a_terminal`], with another pager.
#[must_use]
pub fn at_a_terminal_with(
    bench: &Bench,
    test: &str,
    pager: &str,
    answers: &[(&str, &str)],
    words: &[&str],
) -> Option<CliOutput> {
    if !Path::new("/usr/bin/python3").is_file() {
        skip(test, "no /usr/bin/python3 to make a terminal with");
        return None;
    }
    let pairs: Vec<&str> = answers.iter().flat_map(|(prompt, answer)| [*prompt, *answer]).collect();
    let toolexec = bench.scratch().path().join("bin/toolexec");
    let mut command = bench.command("/usr/bin/python3");
    command.args(["-c", AT_A_TERMINAL, &pairs.join("\x1f")]).arg(toolexec);
    Some(CliOutput::of(command.env("PAGER", pager).env("TERM", "dumb").args(words)))
}
