//! The files that the program opens, from a trace of its system calls.

use std::fs;
use std::path::Path;

use toolexec_tests::{Bench, CliOutput, RequestText, skip};

use super::receiver::TestReceiver;
use super::scene::{EventSpool, address_file};
use super::settle;

/// The note of a program that this kernel cannot restrict.
const NO_LANDLOCK: &str = "this kernel has no Landlock";

/// Returns the paths that were opened after the restriction, and if they were opened for writing.
/// Returns `None` if the program did not restrict itself.
fn opened(trace: &str) -> Option<Vec<(String, bool)>> {
    let is_end = |line: &&str| line.contains("landlock_restrict_self(") && line.ends_with("= 0");
    trace.lines().find(is_end)?;
    let after = trace.lines().skip_while(|line| !is_end(line)).skip(1);
    let opens = after.filter(|line| line.contains("open") && !line.contains("= -1"));
    let writes = |line: &str| line.contains("O_WRONLY") || line.contains("O_RDWR");
    let path = |line: &str| Some((line.split('"').nth(1)?.to_owned(), writes(line)));
    Some(opens.filter_map(path).collect())
}

#[test]
fn it_reads_the_spool_and_writes_its_state_alone() {
    let test = "it_reads_the_spool_and_writes_its_state_alone";
    if std::process::Command::new("strace").arg("-V").output().is_err() {
        return skip(test, "strace is not installed; tests/prepare installs it");
    }
    let bench = Bench::new();
    let spool = EventSpool::new(&bench);
    spool.draft(&RequestText::python("print(1)"));
    settle();
    let receiver = TestReceiver::start();
    let trace = bench.scratch().path().join("trace");
    let mut command = bench.command("strace");
    command.args(["-f", "-qq", "-e", "trace=open,openat,openat2,landlock_restrict_self", "-o"]);
    command.arg(&trace).arg(bench.scratch().path().join("bin/toolexec"));
    command.args(["notify", "--once", "--state", "notify.state", "--spool"]).arg(&spool.path);
    command.arg("--to-file").arg(address_file(&bench, &receiver.url()));
    let output = CliOutput::of(&mut command);
    output.assert_code(0);
    assert_eq!(receiver.posts().len(), 1);
    let trace = fs::read_to_string(trace).unwrap();
    let Some(opened) = opened(&trace) else {
        output.assert_stderr(&[NO_LANDLOCK]);
        return skip(test, NO_LANDLOCK);
    };
    let mut written = 0;
    for (path, writes) in &opened {
        if *writes {
            assert!(path.starts_with(".toolexec-"), "{path} was written");
            written += 1;
        } else if path.starts_with('/') {
            let kernel = ["/proc/", "/etc/", "/lib", "/usr/lib", "/run/"];
            let may = Path::new(path).starts_with(&spool.path)
                || kernel.iter().any(|start| path.starts_with(start));
            assert!(may, "{path} was opened");
        }
    }
    assert!(written > 0, "the search is broken: {opened:?}");
}
