//! Patches of folders: a tool changes a copy, and TOOL-EXEC writes the changes for git. The tool
//! can forge none, and what a patch cannot have is rejected by its path.

use std::fs;
use std::path::Path;

use toolexec_tests::{Bench, CliOutput, Record};

use super::folder_scene::exec;
use super::patch_scene::{
    CHANGES, WORDS, approved, assert_rejected, content, folder, patch_of, run_ok, run_tool,
};
use super::scene::write;

toolexec_tests::as_both!(
    git_applies_each_kind_of_change,
    a_patch_that_the_tool_writes_is_rejected,
    what_a_patch_cannot_have_is_rejected_by_its_path,
    too_many_changes_are_rejected,
    a_folder_that_does_not_fit_is_refused,
    a_run_without_changes_leaves_an_empty_patch,
    a_replay_gives_the_same_patch,
);

fn git_applies_each_kind_of_change(bench: &Bench) {
    let home = bench.home();
    let (output, record) = run_tool(bench, CHANGES);
    output.assert_code(0);
    record.assert_outcome("ok");
    output.assert_stderr(&["out/changes.patch: 13 files changed\n", "ok: 1 file in out, record "]);
    let patch = patch_of(&record);
    assert_eq!(fs::read(home.join("out/changes.patch")).unwrap(), patch);
    let shown = bench.toolexec(["show", "--patch", record.path.to_str().unwrap()]);
    shown.assert_code(0);
    assert_eq!(shown.stdout.as_bytes(), patch);

    for copy in ["wanted", "applied"] {
        run_ok(bench, &home, &["cp", "-a", "repo", copy]);
    }
    let (wanted, applied) = (home.join("wanted"), home.join("applied"));
    run_ok(bench, &wanted, &["python3", "../tool.py"]);
    run_ok(bench, &applied, &["git", "apply", "--check", "../out/changes.patch"]);
    run_ok(bench, &applied, &["git", "apply", "../out/changes.patch"]);
    assert_eq!(content(&applied), content(&wanted));
    run_ok(bench, &applied, &["git", "apply", "-R", "../out/changes.patch"]);
    assert_eq!(content(&applied), content(&home.join("repo")));
}

fn a_patch_that_the_tool_writes_is_rejected(bench: &Bench) {
    let tool = "open('same.txt', 'a').write(' no more')\n\
                open('/out/changes.patch', 'w').write('forged')\n";
    let (output, record) = run_tool(bench, tool);
    output.assert_code(1);
    record.assert_outcome("output_rejected");
    assert_rejected(&record, &[("changes.patch", "reserved")]);
    let patch = String::from_utf8(patch_of(&record)).unwrap();
    assert!(patch.contains("+same no more"), "{patch}");
    assert!(!patch.contains("forged"), "{patch}");
}

fn what_a_patch_cannot_have_is_rejected_by_its_path(bench: &Bench) {
    let tool = "import os\n\
                os.symlink('same.txt', 'new link')\n\
                os.remove('kept link')\n\
                os.symlink('text.txt', 'kept link')\n\
                os.mkfifo('gone/pipe')\n\
                os.link('text.txt', 'twice')\n\
                open('git~1', 'w').close()\n\
                open('large', 'wb').truncate((16 << 20) + 1)\n";
    let (output, record) = run_tool(bench, tool);
    output.assert_code(1);
    record.assert_outcome("output_rejected");
    let wanted = [
        ("work/git~1", "reserved"),
        ("work/gone/pipe", "fifo"),
        ("work/kept link", "symlink"),
        ("work/large", "too-big"),
        ("work/new link", "symlink"),
        ("work/twice", "hardlink"),
    ];
    assert_rejected(&record, &wanted);
}

fn too_many_changes_are_rejected(bench: &Bench) {
    let tool = "import os\n\
                os.mkdir('many')\n\
                for number in range(10001):\n    \
                    open(f'many/{number}', 'w').close()\n";
    let (output, record) = run_tool(bench, tool);
    output.assert_code(1);
    record.assert_outcome("output_rejected");
    assert_rejected(&record, &[("work", "too-many")]);
}

/// The request can run under another policy afterwards: nothing of it was used up.
fn a_folder_that_does_not_fit_is_refused(bench: &Bench) {
    folder(bench, CHANGES);
    let request = approved(bench, &WORDS);
    let policy = bench.toolexec(["policy", "show", "embedded"]).stdout;
    let limit = "out_inodes_max: 65536";
    assert!(policy.contains(limit));
    let policy = policy.replace(limit, "out_inodes_max: 5");
    let policy = bench.scratch().file("small.yaml", policy);
    let run = |words: &[&str]| {
        let mut command = bench.command("toolexec");
        command.arg("run").arg(&request).args(["--format", "json"]).args(words);
        let output = CliOutput::of(&mut command);
        let record = Record::of(&output);
        (output, record)
    };
    let (output, record) = run(&["--policy", policy.to_str().unwrap()]);
    output.assert_code(2);
    output.assert_stderr(&["repo/"]);
    record.assert_outcome("refused");
    bench.assert_nothing_left();
    let (output, record) = run(&[]);
    output.assert_code(0);
    record.assert_outcome("ok");

    // In bytes: half of the memory is /out.
    let large = vec![b'x'; 40 << 20];
    write(&bench.home().join("repo/large"), large, 0o644);
    let output = exec(bench, &[&["--memory-mb", "64"][..], &WORDS].concat());
    output.assert_code(2);
    output.assert_stderr(&["repo/", "refused: record "]);
}

fn a_run_without_changes_leaves_an_empty_patch(bench: &Bench) {
    let tool = "import os\n\
                os.mkdir('.git')\n\
                open('.git/config', 'w').write('not a part of a patch')\n\
                open('same.txt').read()\n\
                print('read')\n";
    let (output, record) = run_tool(bench, tool);
    output.assert_code(0);
    output.assert_stderr(&["out/changes.patch: no changes\n"]);
    assert_eq!(output.stdout, "read\n");
    assert_eq!(patch_of(&record), b"");
    let shown = bench.toolexec(["show", "--patch", record.path.to_str().unwrap()]);
    shown.assert_code(0);
    assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), ("", "no changes\n"));
}

fn a_replay_gives_the_same_patch(bench: &Bench) {
    folder(bench, CHANGES);
    let request = approved(bench, &WORDS);
    let mut run = bench.command("toolexec");
    run.arg("run").arg(&request).args(["--format", "json"]);
    let record = Record::of(&CliOutput::of(&mut run));
    record.assert_outcome("ok");
    let mut replay = bench.command("toolexec");
    replay.args(["replay", "--format", "json"]).arg(&record.path);
    let output = CliOutput::of(replay.arg("--inputs").arg(request.with_extension("inputs")));
    output.assert_code(0);
    let json = output.json();
    assert_eq!(json["reproducible"], true);
    let again = Record::at(Path::new(json["record"].as_str().unwrap()));
    assert_eq!(patch_of(&again), patch_of(&record));
}
