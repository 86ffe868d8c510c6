//! Unusual file names and output of a real tool. The record verifies, quotes request and policy
//! literally, and every name can be read back. A record that does not verify is not published.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{Bench, CliOutput, Record, RequestText, list};

const SEED: u64 = 20_261_123;

/// Creates a name for each kind of white space of Unicode, and random names.
const SCRIPT: &str = r#"
import os, random, sys
random.seed(int(sys.argv[1]))
spaces = [chr(c) for c in range(0x110000) if chr(c).isspace()]
pieces = spaces + ['a', 'b.txt', '`', '``', '|', '*', '# ', '- ', ': ', '"', "'", '\\', '\\u0020', '[withheld',
    '..', '...', '\u202e', '\u200b', '\u2066', '\ufeff', '\ufe0e', '<!--', '---', '  sha256: ', 'é', '漢', ',',
    '{', '}', '[', ']', '&a', '!', '%', '@', 'x' * 255, 'ab' * 32, 'AKIA' + 'ABCDEFGHIJKLMNOP', 'curl x | sh']
names = {('a' + c).encode() for c in spaces} | {c.encode() for c in spaces} | {(c + 'a').encode() for c in spaces}
while len(names) < 400:
    name = ''.join(random.choice(pieces) for _ in range(random.randint(1, 5))).encode()
    names.add(name if random.random() > 0.1 else name + b'\xff')
for name in sorted(names):
    name = name.replace(b'\0', b'').replace(b'/', b'')[:255]
    if name not in (b'', b'.', b'..'):
        with open(b'/out/' + name, 'wb') as file:
            file.write(name)
for out in (sys.stdout.buffer, sys.stderr.buffer):
    for _ in range(60):
        out.write(random.choice(pieces).encode() + random.choice([b'', b'\n', b'\xff', b'\n## Safety Notes\n']))
"#;

/// Returns the part of a record's text below this heading.
fn section<'a>(record: &'a Record, heading: &str) -> &'a str {
    let (_, rest) = record.text.split_once(&format!("\n{heading}\n")).unwrap();
    rest.split_once("\n## ").map_or(rest, |(section, _)| section)
}

/// Returns the lines of the provenance that are equal for two runs of one script. The uid is that
/// of the worker slot, which another run may hold by then.
fn stable_lines(record: &Record) -> Vec<String> {
    let of_one_run = ["- Request sha256: ", "- Started: ", "    python", "- Rule "];
    let lines = section(record, "## Provenance").lines();
    let lasting = lines.filter(|line| !of_one_run.iter().any(|mark| line.starts_with(mark)));
    lasting
        .map(|line| match line.split_once(", uid ") {
            Some((before, after)) => {
                format!(
                    "{before}, uid {}",
                    after.trim_start_matches(|digit: char| digit.is_ascii_digit())
                )
            }
            None => line.to_owned(),
        })
        .collect()
}

const PREDICATE: &str = "import base64, json, sys
bundle = json.load(open(sys.argv[1]))
print(json.dumps(json.loads(base64.b64decode(bundle['dsseEnvelope']['payload']))['predicate']))";

/// Reads the facts of the statement without our code.
fn predicate(record: &Record) -> Value {
    let bundle = record.path.join(format!("{}.bundle.json", record.id()));
    CliOutput::of(Command::new("python3").args(["-c", PREDICATE]).arg(bundle)).json()
}

/// Asserts that the paths in the statement are the files that exist. Returns their number.
fn assert_paths_are_the_files(record: &Record) -> usize {
    let facts = predicate(record);
    let stated = facts["artifacts"].as_array().unwrap().iter();
    let stated: BTreeSet<String> =
        stated.map(|row| row["path"].as_str().unwrap().to_owned()).collect();
    let there: BTreeSet<String> = fs::read_dir(record.path.join("artifacts"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(stated, there);
    let rejected = facts["rejected"].as_array().unwrap().len();
    assert_eq!(u64::try_from(rejected).unwrap(), facts["rejected_total"].as_u64().unwrap());
    assert!(rejected > 20, "some names are no names for a record: {rejected}");
    assert!(!facts.to_string().contains("[withheld: result.digest]"), "{facts}");
    stated.len()
}

fn assert_names_are_read_back(record: &Record) {
    let outputs = section(record, "## Outputs").split("\nNot here:\n").next().unwrap();
    let mut withheld = 0;
    for line in outputs.lines().filter(|line| line.starts_with("- ")) {
        let (path, _) = line[2..].rsplit_once("  sha256: ").unwrap();
        let name = match path.strip_prefix('`').and_then(|path| path.strip_suffix('`')) {
            Some(string) => serde_json::from_str(string).unwrap(),
            None => path.to_owned(),
        };
        if name.starts_with("[withheld: ") {
            withheld += 1;
            continue;
        }
        let file = record.path.join("artifacts").join(name.strip_prefix("/out/").unwrap());
        assert!(file.is_file(), "{line}");
    }
    assert!(withheld < 60, "{withheld} names have what the lint refuses");
}

#[test]
fn a_tool_that_gives_its_files_strange_names_withholds_nothing_of_ours() {
    println!("seed {SEED}");
    let bench = Bench::new();
    let text = RequestText::python(SCRIPT);
    let quiet = bench.save(&RequestText::python("print('done')"));
    let quiet = Record::of(&bench.run(&quiet));
    let command = format!("python /in/script.py {SEED}");
    let request = bench.save(&text.command(&command));
    let record = Record::of(&bench.run(&request));
    record.assert_outcome("output_rejected");
    bench.toolexec(["verify".as_ref(), record.path.as_os_str()]).assert_code(0);
    assert_eq!(stable_lines(&record), stable_lines(&quiet));
    let rules = |record: &Record| record.text.matches("\n- Rule ").count();
    assert_eq!(rules(&record), rules(&quiet));
    assert!(record.text.contains(&format!("\n    {command}\n")), "{}", record.text);
    let given = [section(&record, "## Summary"), section(&record, "## Provenance")].concat();
    assert!(!given.contains("[withheld"), "{given}");
    let kept = assert_paths_are_the_files(&record);
    assert!(kept > 100, "{kept} files kept");
    assert_names_are_read_back(&record);
    check_other_readers(&bench, &record.path);
}

/// Other readers show the same, and none outputs a control character that moves the cursor.
fn check_other_readers(bench: &Bench, record: &Path) {
    let output = bench.toolexec(["show".as_ref(), record.as_os_str(), "--html".as_ref()]);
    output.assert_code(0);
    assert!(!output.stdout.contains("result.digest"), "something was withheld");
    assert!(!output.stdout.contains(['\u{202e}', '\u{2066}', '\u{1b}']), "a name acts on the page");
}

/// Another user with write access to the results adds a file during the run. The record of the run
/// could not verify. Another record that verifies is published, and the collected files are kept.
#[test]
fn a_record_that_would_not_verify_is_not_published_and_nothing_is_lost() {
    let bench = Bench::new();
    let script =
        "import time\nprint('done', flush=True)\nopen('/out/a', 'w').write('x')\ntime.sleep(6)";
    let request = bench.save(&RequestText::python(script));
    let results = bench.results();
    let stray = std::thread::spawn(move || {
        let begun = Instant::now();
        loop {
            let names = list(&results);
            if let Some(name) = names.iter().find(|name| name.starts_with(".new-")) {
                std::thread::sleep(Duration::from_millis(500));
                return fs::write(results.join(name).join("stray"), "x").unwrap();
            }
            let limit = Duration::from_secs(20) * time_factor();
            assert!(begun.elapsed() < limit, "nothing was gathered");
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    let output = bench.run(&request);
    stray.join().unwrap();
    output.assert_code(3);
    output.assert_stderr(&["stray: not named by the record", "is not published", ".unverified-"]);
    let record = Record::of(&output);
    record.assert_outcome("indeterminate");
    assert_eq!(
        record.front_matter_value("reason"),
        "the full record did not verify; this one is reduced"
    );
    bench.toolexec(["verify".as_ref(), record.path.as_os_str()]).assert_code(0);
    let kept = bench.results().join(format!(".unverified-{}", record.id()));
    assert_eq!(fs::read_to_string(kept.join("stdout")).unwrap(), "done\n");
    assert_eq!(fs::read_to_string(kept.join("artifacts/a")).unwrap(), "x");
    assert!(kept.join("stray").exists());
    let of_results = |name: &&String| !name.starts_with('.');
    assert_eq!(list(&bench.results()).iter().filter(of_results).count(), 1);
}
