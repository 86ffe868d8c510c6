//! Hostile text in streams, names, purposes and reasons changes no fact and prevents no record.

use model::{Outcome, RejectReason};
use records::{Statement, Trust, sign, verify};
use sandbox::report::RejectedObject;

use crate::fixture::{RecordCase, RecordScratch, SECTIONS, headings, markdown, publish, put};

const AWS: &str = "AKIAABCDEFGHIJKLMNOP";

fn rendered(case: &RecordCase) -> String {
    let scratch = RecordScratch::new();
    markdown(&sign(&case.statement(), &scratch.key("keys")).unwrap())
}

#[test]
fn a_stream_cannot_be_more_than_a_stream() {
    let stdout = format!(
        "---\n## Safety Notes\nUnexpected behavior: None observed\n\t# x\n<!--\n```\n\
         \x1b[31mred\x1b]0;title\x07\nsee \u{202e}gnp.exe\u{2028}x\nid {AWS}\n\u{0}\r\n"
    );
    let case = RecordCase::new(
        "Statistics.",
        stdout.as_bytes(),
        &[("stats.json", b"{}"), ("chart.svg", b"")],
    );
    let md = rendered(&case);
    assert_eq!(headings(&md), SECTIONS);
    assert_eq!(md.lines().filter(|line| *line == "---").count(), 2);
    assert!(!md.contains(AWS) && md.contains("    [withheld: secret.aws-key]"));
    assert!(md.contains("Unexpected behavior: 1 lines of output withheld"));
    assert!(md.contains("\\u{1b}[31mred") && md.contains("\\u{202e}gnp.exe"));
    let strange =
        |c: char| c != '\n' && c != '\t' && c.is_control() || "\u{202e}\u{2028}".contains(c);
    assert!(!md.contains(strange));
    let (_, after) = md.split_once("## Stdout\n").unwrap();
    let (section, _) = after.split_once("\n## Stderr").unwrap();
    // One paragraph of the program; everything else is indented.
    let ours = section.lines().filter(|line| !line.starts_with("    ") && !line.is_empty());
    assert_eq!(ours.count(), 1, "{section}");
}

#[test]
fn words_cannot_be_more_than_words() {
    let purpose =
        "Sums \\n---\\n## Safety Notes\\n result_type: x \\u202e \\\" ![x](http://host/y)";
    let plain = RecordCase::new("Statistics.", b"", &[]);
    // A purpose that the validator accepts is accepted here; the reason below is any text.
    let mut case = RecordCase::new("Sums: --- # result_type: x `a` ![x](http://host/y)", b"", &[]);
    case.confinement.degraded = vec!["a\n## Stdout".into()];
    let statement = Statement { reason: Some(purpose), ..case.statement() };
    let scratch = RecordScratch::new();
    let md = markdown(&sign(&statement, &scratch.key("keys")).unwrap());
    assert_eq!(headings(&md), SECTIONS);
    assert_eq!(md.lines().count(), rendered(&plain).lines().count() + 1);
    let reason = "a\n---\n\n# top\n    ## Stderr\u{202e}\u{85}\u{0}";
    let statement = Statement { reason: Some(reason), policy_name: reason, ..case.statement() };
    let md = markdown(&sign(&statement, &scratch.key("keys")).unwrap());
    assert_eq!(headings(&md), SECTIONS);
    assert_eq!(md.lines().filter(|line| *line == "---").count(), 2);
    assert!(md.contains("reason: \"a\\n---\\n\\n# top\\n    ## Stderr\\u202e\\u0085\\u0000\"\n"));
}

#[test]
fn names_cannot_keep_a_run_from_being_recorded_and_still_verify() {
    let names = [
        format!("{AWS}.json"),
        "password=hunter2hunter2".to_owned(),
        "x: \"y\" # {z} [a](b) `c`".to_owned(),
        "- é漢 \u{1f600} 'q' \\u0041".to_owned(),
    ];
    let artifacts: Vec<(&str, &[u8])> =
        names.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    let mut case = RecordCase::new("Statistics.", b"", &artifacts);
    case.finished.collected.rejected =
        vec![RejectedObject { path: format!("link-{AWS}"), reason: RejectReason::Symlink }];
    let scratch = RecordScratch::new();
    let key = scratch.key("keys");
    let outcome = Outcome::OutputRejected;
    let record = sign(&Statement { outcome, ..case.statement() }, &key).unwrap();
    let md = markdown(&record);
    assert!(!md.contains(AWS) && !md.contains("hunter2"), "{md}");
    assert!(md.contains("- [withheld: secret.aws-key]  sha256: "));
    let dir = publish(scratch.path(), &record, &case.stdout, &case.stderr);
    for name in &names {
        put(&dir.join("artifacts").join(name), b"x");
    }
    let verified = verify(&dir, &Trust::from_key(&key.public()));
    assert!(verified.is_ok(), "{verified:?}");
}

#[test]
fn a_private_key_is_withheld_to_its_end() {
    let stdout = b"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE\n-----END OPENSSH \
                   PRIVATE KEY-----\nafter\n";
    let md = rendered(&RecordCase::new("Statistics.", stdout, &[]));
    assert!(!md.contains("b3BlbnNzaC1rZXktdjE") && md.contains("    after\n"));
    assert!(md.contains("3 lines of output withheld"));
}

#[test]
fn long_streams_are_cut_and_say_so() {
    let stdout = b"line\n".repeat(1000);
    let md = rendered(&RecordCase::new("Statistics.", &stdout, &[]));
    assert_eq!(md.lines().filter(|line| *line == "    line").count(), 200);
    assert!(md.contains(
        "Truncated: only the first 200 lines are shown here; the rest is in the file `stdout`."
    ));
    let md = rendered(&RecordCase::new("Statistics.", &[0xff; 65_537], &[]));
    assert!(md.len() < 200 * 1024 && md.contains("Truncated: "));
}
