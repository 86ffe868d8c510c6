//! Folders as inputs: drafted without what their ignore files leave out, shown, run, and refused
//! when a byte or an entry is not the approved one.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use serde_json::json;
use toolexec_tests::{Bench, CliOutput, DocPage, Record, list};

use super::folder_scene::{
    COMMAND, COPIED, approved_request, copy_of, draft, exec, files_below, repository, script_digest,
};

toolexec_tests::as_both!(
    the_test_of_a_package_runs,
    a_byte_changed_after_the_approval_is_refused,
    an_added_file_is_refused,
    a_changed_copy_of_a_kept_folder_is_refused,
    exec_takes_a_folder,
    the_same_folder_is_not_copied_again,
    a_submitted_folder_keeps_its_digest,
);

fn the_test_of_a_package_runs(bench: &Bench) {
    repository(bench);
    let request = approved_request(bench);
    let mut run = bench.command("toolexec");
    let output = CliOutput::of(run.arg("run").arg(&request).args(["--format", "json"]));
    output.assert_code(0);
    let record = Record::of(&output);
    record.assert_outcome("ok");
    assert!(record.stderr().contains("Ran 1 test"), "{}", record.stderr());
    bench.toolexec(["verify".as_ref(), record.path.as_os_str()]).assert_code(0);
    bench.assert_nothing_left();
}

fn a_byte_changed_after_the_approval_is_refused(bench: &Bench) {
    refused_after(bench, |copy| {
        let text = "def add(a, b):\n    return a * b\n";
        fs::write(copy.join("adding/__init__.py"), text).unwrap();
    });
}

fn an_added_file_is_refused(bench: &Bench) {
    refused_after(bench, |copy| fs::write(copy.join("added.py"), "").unwrap());
}

/// An earlier run staged the approved folder, and its tree is kept.
fn a_changed_copy_of_a_kept_folder_is_refused(bench: &Bench) {
    repository(bench);
    exec(bench, &[&["--input", "repo"][..], &COMMAND].concat()).assert_code(0);
    let kept = list(&bench.state().join("input-trees"));
    assert_eq!(kept.len(), 1, "{kept:?}");
    refused_with(bench, |copy| fs::write(copy.join("run.sh"), "#!/bin/bash\n").unwrap());
    assert_eq!(list(&bench.state().join("input-trees")), kept);
}

#[track_caller]
fn refused_after(bench: &Bench, change: impl Fn(&Path)) {
    repository(bench);
    refused_with(bench, change);
}

#[track_caller]
fn refused_with(bench: &Bench, change: impl Fn(&Path)) {
    let request = approved_request(bench);
    change(&copy_of(&request));
    let review = bench.toolexec(["review".as_ref(), request.as_os_str()]);
    review.assert_code(2);
    assert!(review.stdout.contains("DIGEST DIFFERS"), "{review:#?}");
    let mut run = bench.command("toolexec");
    let output = CliOutput::of(run.arg("run").arg(&request).args(["--format", "json"]));
    output.assert_code(2);
    output.assert_stderr(&["inputs.mismatch", "repo/"]);
    let record = Record::of(&output);
    record.assert_outcome("refused");
    assert_eq!(record.stderr(), "");
    bench.assert_nothing_left();
}

fn exec_takes_a_folder(bench: &Bench) {
    repository(bench);
    let output = exec(bench, &[&["--input", "repo"][..], &COMMAND].concat());
    output.assert_code(0);
    output.assert_stderr(&["repo/: 6 files, ", "; left out: .git/, ", "Ran 1 test"]);
    assert_eq!(list(&bench.state().join("exec")), Vec::<String>::new());
    bench.assert_nothing_left();
}

fn the_same_folder_is_not_copied_again(bench: &Bench) {
    repository(bench);
    let stored_inode = || {
        exec(bench, &[&["--input", "repo"][..], &COMMAND].concat()).assert_code(0);
        let trees = bench.state().join("input-trees");
        let names = list(&trees);
        assert_eq!(names.len(), 1, "{names:?}");
        fs::metadata(trees.join(&names[0]).join("tree/run.sh")).unwrap().ino()
    };
    assert_eq!(stored_inode(), stored_inode());
    bench.assert_nothing_left();
}

fn a_submitted_folder_keeps_its_digest(bench: &Bench) {
    repository(bench);
    let request = approved_request(bench);
    CliOutput::of(bench.command("mkdir").args(["-p", "spool/approved"])).assert_code(0);
    let words = ["submit".as_ref(), request.as_os_str(), "--spool".as_ref(), "spool".as_ref()];
    bench.toolexec(words).assert_code(0);
    let submitted = bench.home().join("spool/approved").join(request.file_name().unwrap());
    let digest = script_digest(&copy_of(&request));
    assert_eq!(script_digest(&copy_of(&submitted)), digest);
}

#[test]
fn a_draft_leaves_out_what_the_ignore_files_name() {
    let bench = Bench::new();
    repository(&bench);
    let output = draft(&bench, &[&["--input", "repo"][..], &COMMAND].concat());
    output.assert_code(0);
    let line = "; left out: .git/, adding/build.log (by .gitignore), adding/secret.txt (by \
                .toolexecignore), build.log (by .gitignore), target/ (by .gitignore)\n";
    output.assert_stderr(&["repo/: 6 files, ", line]);
    let copy = copy_of(&bench.home().join(output.json()["request"].as_str().unwrap()));
    assert_eq!(files_below(&copy), COPIED);
    assert_eq!(fs::read_link(copy.join("also")).unwrap().to_str(), Some("adding"));
    let mode = |name: &str| fs::metadata(copy.join(name)).unwrap().permissions().mode() & 0o100;
    assert_eq!((mode("run.sh"), mode("kept.log")), (0o100, 0));
    let input = json!({"name": "repo/", "sha256": script_digest(&copy)});
    assert_eq!(output.json()["inputs"], json!([input]));
}

#[test]
fn a_folder_may_have_another_name() {
    let bench = Bench::new();
    let repo = repository(&bench);
    let named = draft(&bench, &["--input", "code/app=repo", "--", "python", "/in/code/app/a.py"]);
    named.assert_code(0);
    assert_eq!(named.json()["inputs"][0]["name"], "code/app/");
    fs::rename(&repo, bench.home().join(".my repo")).unwrap();
    let plain = draft(&bench, &["--slug", "p", "--input", ".my repo", "--", "python", "-c", "1"]);
    plain.assert_code(0);
    assert_eq!(plain.json()["inputs"][0]["name"], "my-repo/");
}

/// Nothing is written then, and the message names the entry.
#[test]
fn an_entry_that_a_tree_cannot_have_is_refused_by_name() {
    let bench = Bench::new();
    let repo = repository(&bench);
    let refused = |words: &[&str]| {
        let output = draft(&bench, &[&["--input", "repo"][..], &COMMAND].concat());
        output.assert_code(3);
        output.assert_stderr(words);
        let left: Vec<_> =
            list(&bench.home()).into_iter().filter(|name| name.contains("TR-")).collect();
        assert_eq!(left, Vec::<String>::new());
    };
    let entry = repo.join("adding/entry");
    symlink("../../outside", &entry).unwrap();
    refused(&["repo", "adding/entry: the link to `../../outside` may leave the tree"]);
    fs::remove_file(&entry).unwrap();
    let listener = UnixListener::bind(&entry).unwrap();
    refused(&["repo", "adding/entry: a socket cannot be part of a tree"]);
    drop(listener);
    fs::remove_file(&entry).unwrap();
    symlink("../.gitignore", repo.join("adding/.gitignore")).unwrap();
    refused(&["adding/.gitignore: a link, which is not followed"]);
    fs::remove_file(repo.join("adding/.gitignore")).unwrap();
    // An entry that is left out may be anything.
    let _listener = UnixListener::bind(repo.join("adding/s.log")).unwrap();
    draft(&bench, &[&["--input", "repo"][..], &COMMAND].concat()).assert_code(0);
}

#[test]
fn lint_and_review_show_a_folder() {
    let bench = Bench::new();
    repository(&bench);
    let request = approved_request(&bench);
    bench.toolexec(["lint".as_ref(), request.as_os_str()]).assert_code(0);
    let policy = bench.toolexec(["policy", "show", "embedded"]).stdout;
    let policy = bench.scratch().file("embedded.yaml", policy);
    let review = |words: &[&str]| {
        let mut command = bench.command("toolexec");
        command.arg("review").arg(&request).arg("--policy").arg(&policy).args(words);
        let output = CliOutput::of(&mut command);
        output.assert_code(0);
        output
    };
    let digest = script_digest(&copy_of(&request));
    let human = review(&[]);
    for text in [
        "  /in/repo/  6 files, ",
        &digest,
        "! 6 files, 1 directory, 1 link: texts not shown, and the COMMAND NAMES IT",
        "  adding/__init__.py\n",
    ] {
        assert!(human.stdout.contains(text), "{text:?} is not in {human:#?}");
    }
    assert!(!human.stdout.contains("return a + b"), "{human:#?}");
    let object = review(&["--format", "json"]).json();
    let input = &object["inputs"][0];
    assert_eq!((&input["name"], &input["sha256"]), (&json!("repo/"), &json!(digest)));
    assert_eq!(input["folder"]["files"], 6);
    assert_eq!(input["folder"]["first_files"][2], "adding/__init__.py");
    assert_eq!((&input["command_names_it"], &input["text"]), (&json!(true), &json!(null)));
}

/// Types the section, and compares the line of the draft with the page.
#[test]
fn the_commands_of_the_page_work() {
    let bench = Bench::new();
    let section = DocPage::open("docs/environments.md").section("Folders as inputs");
    let output = CliOutput::of(&mut bench.shell(&section.script()));
    output.assert_code(0);
    let printed = &section.blocks("text")[0];
    output.assert_stderr(&[printed.as_str()]);
    assert!(output.stdout.ends_with(".gitignore\nadding\ntest_adding.py\n"), "{output:#?}");
}
