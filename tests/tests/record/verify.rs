//! If any byte of a record changes, `toolexec verify` and `ssh-keygen` report it by file name.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use toolexec_tests::{Bench, CliOutput, Record, RequestText, list, ssh_keygen_works};

/// Creates a complete record in the bench's own results.
fn record(bench: &Bench) -> Record {
    let script = "import os, sys; print('to stdout'); print('to stderr', file=sys.stderr)\n\
                  os.mkdir('/out/deep'); open('/out/deep/kept','w').write('kept')";
    let (output, record) = bench.run_recorded(&RequestText::python(script).output("deep/kept"));
    output.assert_code(0);
    record
}

fn verify(bench: &Bench, path: &Path) -> CliOutput {
    bench.toolexec(["verify".as_ref(), path.as_os_str()])
}

/// Flips one bit of the byte at `at`.
fn flip(path: &Path, at: u64) {
    let file = File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
}

/// Returns the files of a record that a test changes, relative to it.
fn files(record: &Record) -> Vec<String> {
    let id = record.id();
    let request = record.front_matter_value("request_file");
    let mut files: Vec<String> =
        ["stdout", "stderr", "artifacts/deep/kept"].map(String::from).into();
    files.extend([format!("{id}.md"), format!("{id}.md.sig"), format!("request/{request}")]);
    files
}

#[test]
fn a_good_record_verifies_in_every_form() {
    let bench = Bench::new();
    let record = record(&bench);
    for path in [
        record.path.clone(),
        record.path.join(format!("{}.md", record.id())),
        record.path.join("stdout"),
        bench.results(),
    ] {
        let output = verify(&bench, &path);
        output.assert_code(0);
        let begins = format!("{}: verified: ok, 4 files re-hashed", record.id());
        assert!(output.stdout.starts_with(&begins), "{path:?} {output:#?}");
    }
}

#[test]
fn one_byte_changed_in_any_file_is_named() {
    let bench = Bench::new();
    let record = record(&bench);
    for file in files(&record) {
        let path = record.path.join(&file);
        let good = fs::read(&path).unwrap();
        // For the signature a byte inside its base64 text, for the others any byte.
        for at in [good.len() as u64 / 2, good.len() as u64 - 1] {
            if file.ends_with(".sig") && at == good.len() as u64 - 1 {
                continue;
            }
            flip(&path, at);
            let output = verify(&bench, &record.path);
            output.assert_code(1);
            let (verdict, faults) = output.stdout.split_once('\n').unwrap();
            assert_eq!(verdict, format!("{}: NOT VERIFIED", record.id()));
            assert!(
                faults.lines().any(|line| line.trim().starts_with(&file)),
                "{file}: {output:#?}"
            );
            fs::write(&path, &good).unwrap();
        }
    }
    verify(&bench, &record.path).assert_code(0);
}

#[test]
fn a_longer_a_missing_and_an_added_file_are_named() {
    let bench = Bench::new();
    let record = record(&bench);
    let named = |file: &str| {
        let output = verify(&bench, &record.path);
        output.assert_code(1);
        assert!(
            output.stdout.lines().any(|line| line.trim().starts_with(file)),
            "{file}: {output:#?}"
        );
    };
    for file in files(&record) {
        let path = record.path.join(&file);
        let good = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        named(&file);
        fs::create_dir(&path).unwrap();
        verify(&bench, &record.path).assert_code(1);
        fs::remove_dir(&path).unwrap();
        // A link to the same bytes is not the file.
        let elsewhere = bench.scratch().file("elsewhere", &good);
        symlink(&elsewhere, &path).unwrap();
        named(&file);
        fs::remove_file(&path).unwrap();
        fs::write(&path, [good.as_slice(), b"\n"].concat()).unwrap();
        if !file.ends_with(".sig") {
            named(&file);
        }
        fs::write(&path, &good).unwrap();
    }
    for file in ["note", "artifacts/more", "artifacts/deep/more", "request/more.md", ".hidden"] {
        fs::write(record.path.join(file), "").unwrap();
        named(file);
        fs::remove_file(record.path.join(file)).unwrap();
    }
    verify(&bench, &record.path).assert_code(0);
}

#[test]
fn a_renamed_record_is_named() {
    let bench = Bench::new();
    let record = record(&bench);
    let other = bench.results().join(format!("{}x", record.id()));
    fs::rename(&record.path, &other).unwrap();
    let output = verify(&bench, &other);
    output.assert_code(1);
    assert!(output.stdout.contains(record.id()), "{output:#?}");
}

#[test]
fn a_tree_reports_each_record() {
    let bench = Bench::new();
    let (first, second) = (record(&bench), record(&bench));
    verify(&bench, &bench.results()).assert_code(0);
    flip(&second.path.join("stdout"), 0);
    let output = bench.toolexec(["verify", "--format", "json", bench.results().to_str().unwrap()]);
    output.assert_code(1);
    let lines = output.json_lines();
    assert_eq!(lines.len(), 2);
    for (record, verified) in [(&first, true), (&second, false)] {
        let path = record.path.to_str().unwrap();
        let line = lines.iter().find(|line| line["path"] == path).unwrap();
        assert_eq!(line["verified"], verified, "{line}");
        assert_eq!(line["faults"].as_array().unwrap().is_empty(), verified, "{line}");
    }
    let good = lines.iter().find(|line| line["verified"] == true).unwrap();
    assert_eq!((&good["result_id"], &good["outcome"]), (&first.id().into(), &"ok".into()));
    let bad = lines.iter().find(|line| line["verified"] == false).unwrap();
    assert!(bad["faults"][0].as_str().unwrap().starts_with("stdout:"), "{bad}");
}

#[test]
fn skipped_entries_of_a_tree_are_reported() {
    let bench = Bench::new();
    let record = record(&bench);
    let id = record.id();
    let tree = bench.scratch().dir("tree");
    let good = tree.join(id);
    let copy = |to: &Path| {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        assert!(Command::new("cp").arg("-r").args([&record.path, to]).status().unwrap().success());
    };
    copy(&good);
    verify(&bench, &tree).assert_code(0);

    // `verify` reports what it skips.
    let elsewhere = bench.scratch().dir("elsewhere");
    copy(&elsewhere.join(id));
    symlink(&elsewhere, tree.join("linked")).unwrap();
    let deep = tree.join("1/2/3/4/5/6/7/8/9");
    copy(&deep.join(id));
    let output = verify(&bench, &tree);
    output.assert_code(0);
    output.assert_stderr(&["linked: skipped", "8/9: skipped, not verified: more than eight"]);
    fs::remove_dir_all(tree.join("1")).unwrap();
    fs::remove_file(tree.join("linked")).unwrap();

    // A file or directory that only looks like a result does not verify.
    let named = |expected: &str| {
        let output = verify(&bench, &tree);
        output.assert_code(1);
        assert!(output.stdout.contains(expected), "{expected}: {output:#?}");
    };
    let bundle = fs::read(record.path.join(format!("{id}.bundle.json"))).unwrap();
    let loose = tree.join("loose.bundle.json");
    fs::write(&loose, &bundle).unwrap();
    verify(&bench, &tree).assert_code(0);
    fs::write(&loose, &bundle[1..]).unwrap();
    named("loose.bundle.json: NOT VERIFIED");
    fs::remove_file(&loose).unwrap();
    let file = tree.join(format!("{id}x"));
    fs::write(&file, "").unwrap();
    named("has the name of a result, but is not a directory");
    fs::remove_file(&file).unwrap();
    let renamed = tree.join("renamed");
    fs::rename(&good, &renamed).unwrap();
    fs::remove_file(renamed.join(format!("{id}.md"))).unwrap();
    named("renamed: NOT VERIFIED");
    fs::remove_file(renamed.join(format!("{id}.md.sig"))).unwrap();
    fs::remove_file(renamed.join(format!("{id}.tlog-proof"))).unwrap();
    named("renamed: NOT VERIFIED");
}

/// Returns the key of the state directory in the format of `ssh-keygen`.
fn allowed_signers(bench: &Bench) -> PathBuf {
    let shown = bench.toolexec(["keys", "show", "--format", "allowed-signers"]);
    shown.assert_code(0);
    bench.scratch().file("signers", shown.stdout)
}

fn ssh_keygen_accepts(signers: &Path, record: &Record, namespace: &str) -> bool {
    let md = record.path.join(format!("{}.md", record.id()));
    let status = Command::new("ssh-keygen")
        .args(["-Y", "verify", "-I", "tool-exec", "-n", namespace, "-f"])
        .arg(signers)
        .arg("-s")
        .arg(md.with_extension("md.sig"))
        .stdin(File::open(&md).unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.unwrap().success()
}

#[test]
fn stock_ssh_keygen_agrees() {
    if !ssh_keygen_works("stock_ssh_keygen_agrees") {
        return;
    }
    let bench = Bench::new();
    let record = record(&bench);
    let signers = allowed_signers(&bench);
    assert!(ssh_keygen_accepts(&signers, &record, "result.tool-exec@threegate"));
    assert!(!ssh_keygen_accepts(&signers, &record, "approve.tool-exec@threegate"));
    flip(&record.path.join(format!("{}.md", record.id())), 100);
    assert!(!ssh_keygen_accepts(&signers, &record, "result.tool-exec@threegate"));
}

#[test]
fn only_trusted_keys_count() {
    if !ssh_keygen_works("only_trusted_keys_count") {
        return;
    }
    let bench = Bench::new();
    let record = record(&bench);
    let by = |signers: &Path| {
        let words = ["verify", "--result-keys", signers.to_str().unwrap(), "--state", "/nowhere"];
        bench.toolexec(words.iter().copied().chain([record.path.to_str().unwrap()]))
    };
    by(&allowed_signers(&bench)).assert_code(0);

    let other = bench.home().join("other");
    let other = other.to_str().unwrap();
    bench.toolexec(["keys", "init", "--state", other]).assert_code(0);
    let shown = bench.toolexec(["keys", "show", "--state", other]);
    let output = by(&bench.scratch().file("others", &shown.stdout));
    output.assert_code(1);
    assert!(output.stdout.contains("which is not trusted"), "{output:#?}");
    output.assert_stderr(&["the key of a signature is not trusted", "help: ", "--state"]);

    // A record signed again with another key is a forgery, even if all digests match.
    let md = record.path.join(format!("{}.md", record.id()));
    fs::remove_file(md.with_extension("md.sig")).unwrap();
    let key = Path::new(other).join("keys/result");
    let namespace = ["-n", "result.tool-exec@threegate"];
    let signed = CliOutput::of(
        Command::new("ssh-keygen").args(["-Y", "sign", "-f"]).arg(key).args(namespace).arg(&md),
    );
    signed.assert_code(0);
    verify(&bench, &record.path).assert_code(1);
}

#[test]
fn what_cannot_be_checked_exits_3() {
    let bench = Bench::new();
    let output = verify(&bench, &bench.home());
    output.assert_code(3);
    output.assert_stderr(&["no trusted key", "--result-keys"]);
    let record = record(&bench);
    let output = verify(&bench, Path::new("/no/such/result"));
    output.assert_code(3);
    output.assert_stderr(&["/no/such/result"]);
    // A directory without a result does not verify.
    let empty = bench.scratch().dir("empty");
    let output = verify(&bench, &empty);
    output.assert_code(1);
    assert!(output.stdout.contains("no result is in this directory"), "{output:#?}");
    assert_eq!(list(&record.path).len(), 8, "verifying changes nothing");
}
