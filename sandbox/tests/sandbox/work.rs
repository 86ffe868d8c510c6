//! The writable copy of a folder, and the differences that reach the daemon.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use model::Outcome;
use sandbox::client::BuildError;
use sandbox::plan::{CHANGES_MAX, Limits, Plan, WORK_FILE_BYTES_MAX, WorkCopy, WorkFolder};
use sandbox::report::WorkChanges;

use crate::support::*;

/// Puts a folder into the slot and asks for a copy of it.
fn with_folder(plan: &mut Plan, slot: &Path) {
    let folder = slot.join("repo");
    for directory in ["repo", "repo/sub", "repo/swap"] {
        fs::create_dir(slot.join(directory)).unwrap();
        fs::set_permissions(slot.join(directory), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for name in ["edit", "gone", "keep", "kind", "run.sh", "sub/deep", "swap/file", "tolink"] {
        fs::write(folder.join(name), format!("{name}\n")).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o644)).unwrap();
    }
    fs::set_permissions(folder.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("keep", folder.join("link")).unwrap();
    symlink("../../etc/shadow", folder.join("outside")).unwrap();
    let folder = WorkFolder::new("repo").unwrap();
    plan.exec.work = Some(WorkCopy { folder, patch: "changes.patch".to_owned() });
}

/// Adds files that a patch cannot have: large ones, one with a long path, and one of git.
fn with_odd_files(plan: &mut Plan, slot: &Path) {
    with_folder(plan, slot);
    let mut directory = slot.join("repo");
    for name in [&"a".repeat(200), &"b".repeat(200)] {
        directory.push(name);
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let folder = slot.join("repo");
    let long = directory.join("c".repeat(200));
    let size = WORK_FILE_BYTES_MAX + 1;
    let large = ["large-gone", "large-less"].map(|name| (folder.join(name), size));
    for (path, size) in large.into_iter().chain([(long, 1)]) {
        fs::File::create(&path).unwrap().set_len(size).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    }
    symlink("keep", folder.join(".gitmodules")).unwrap();
}

#[track_caller]
fn check_work(script: &str, limits: Limits, expected: Outcome) -> RunOutput {
    check_folder(with_folder, script, limits, expected)
}

#[track_caller]
fn check_folder(
    folder: fn(&mut Plan, &Path),
    script: &str,
    limits: Limits,
    expected: Outcome,
) -> RunOutput {
    let ran = run_changed(script, limits, folder);
    let RunOutput { finished, stdout, stderr, .. } = &ran;
    assert_eq!(finished.outcome(), expected, "{finished:#?}\nstdout: {stdout}\nstderr: {stderr}");
    ran
}

fn changes(ran: &RunOutput) -> &WorkChanges {
    ran.finished.collected.work.as_ref().unwrap()
}

fn changed_paths(ran: &RunOutput) -> Vec<(&str, bool)> {
    changes(ran).changed.iter().map(|file| (file.path.as_str(), file.executable)).collect()
}

fn rejected(ran: &RunOutput) -> Vec<(&str, &str)> {
    let rows = ran.finished.collected.rejected.iter();
    rows.map(|row| (row.path.as_str(), row.reason.as_str())).collect()
}

#[test]
fn the_tool_starts_in_a_writable_copy() {
    let script = "import os\nprint(os.getcwd())\nprint(sorted(os.listdir('.')))\n\
        print([oct(os.stat(n).st_mode & 0o7777) for n in ('keep', 'run.sh', 'sub')])\n\
        print(os.readlink('link'), os.readlink('outside'), open('sub/deep').read().strip())\n\
        print(os.path.exists('/in/repo/keep'))";
    let ran = check_work(script, LIMITS, Outcome::Ok);
    let names = "['edit', 'gone', 'keep', 'kind', 'link', 'outside', 'run.sh', 'sub', 'swap', \
                 'tolink']";
    let modes = "['0o644', '0o755', '0o755']";
    let expected = format!("/out/work\n{names}\n{modes}\nkeep ../../etc/shadow sub/deep\nTrue\n");
    assert_eq!(ran.stdout, expected);
    assert_eq!(changes(&ran), &WorkChanges::default());
    assert!(ran.finished.collected.complete);
    assert!(ran.finished.collected.artifacts.is_empty());
}

#[test]
fn the_copy_leaves_the_tool_no_descriptor() {
    let script = "import os; print(os.listdir('/proc/self/fd'))";
    assert_eq!(check_work(script, LIMITS, Outcome::Ok).stdout, run(script).stdout);
}

#[test]
fn only_differences_are_sent() {
    let script = "import os, shutil\n\
        open('edit', 'w').write('EDIT\\n'); os.remove('gone'); os.utime('keep', (0, 0))\n\
        os.chmod('sub/deep', 0o755); os.chmod('run.sh', 0o700); os.chmod('keep', 0o600)\n\
        os.mkdir('.github'); open('.github/new', 'w').write('n'); os.mkdir('empty')\n\
        os.remove('kind'); os.mkdir('kind'); open('kind/inner', 'w').write('i')\n\
        shutil.rmtree('swap'); open('swap', 'w').write('s')\n\
        os.remove('link'); open('link', 'w').write('l')\n\
        os.symlink('keep', 'new-link'); os.remove('new-link')\n\
        open('/out/report', 'w').write('r')";
    let ran = check_work(script, LIMITS, Outcome::Ok);
    let expected = [
        (".github/new", "n"),
        ("edit", "EDIT\n"),
        ("kind/inner", "i"),
        ("link", "l"),
        ("sub/deep", "sub/deep\n"),
        ("swap", "s"),
    ];
    let paths = expected.map(|(path, _)| (path, path == "sub/deep"));
    assert_eq!(changed_paths(&ran), paths);
    for (number, (path, content)) in expected.into_iter().enumerate() {
        let copy = ran.result.join("work").join(number.to_string());
        assert_eq!(fs::read_to_string(copy).unwrap(), content, "{path}");
    }
    assert_eq!(changes(&ran).removed, ["gone", "kind", "swap/file"]);
    let artifacts = ran.finished.collected.artifacts.iter().map(|file| file.path.as_str());
    assert_eq!(artifacts.collect::<Vec<_>>(), ["report"]);
}

#[test]
fn a_change_that_is_not_a_plain_file_is_rejected() {
    let script = "import os, socket\n\
        os.mkfifo('fifo'); os.symlink('/etc/shadow', 'secret'); os.link('keep', 'linked')\n\
        os.remove('link'); os.symlink('edit', 'link'); os.remove('tolink')\n\
        os.symlink('keep', 'tolink'); s = socket.socket(socket.AF_UNIX); s.bind('sock')\n\
        open('big', 'wb').truncate((16 << 20) + 1); open('line\\nbreak', 'w')\n\
        open(b'\\xff', 'w'); open('x' * 250, 'w'); open('edit', 'w').write('e')\n\
        os.makedirs('/'.join('d' * 80)); os.chmod('sub', 0)";
    let ran = check_work(script, LIMITS, Outcome::OutputRejected);
    let rows = rejected(&ran);
    for row in [
        ("work/fifo", "fifo"),
        ("work/secret", "symlink"),
        ("work/linked", "hardlink"),
        ("work/link", "symlink"),
        ("work/tolink", "symlink"),
        ("work/sock", "socket"),
        ("work/big", "too-big"),
        ("work/line\\u{a}break", "name-control"),
    ] {
        assert!(rows.contains(&row), "{row:?} not in {rows:?}");
    }
    for reason in ["name-not-utf8", "too-deep"] {
        assert!(rows.iter().any(|(_, found)| *found == reason), "{reason} not in {rows:?}");
    }
    let long = "x".repeat(250);
    assert_eq!(changed_paths(&ran), [("edit", false), (long.as_str(), false)]);
    assert_eq!(changes(&ran).removed, ["tolink"]);
    assert!(ran.finished.collected.complete);
}

#[test]
fn differences_below_git_are_left_out_and_other_spellings_rejected() {
    let script = "import os\n\
        for d in ('.git', '.GIT', '.github'): os.mkdir(d); open(d + '/x', 'w').write('x')\n\
        open('sub/.git', 'w').write('x'); open('git~1', 'w').write('x')";
    let ran = check_work(script, LIMITS, Outcome::OutputRejected);
    assert_eq!(rejected(&ran), [("work/.GIT/x", "reserved"), ("work/git~1", "reserved")]);
    assert_eq!(changed_paths(&ran), [(".github/x", false)]);
    assert!(ran.finished.collected.complete);
}

#[test]
fn an_original_that_a_patch_cannot_have_is_rejected() {
    let script = "import os, shutil\n\
        os.remove('.gitmodules'); os.remove('large-gone'); open('large-less', 'w').write('x')\n\
        os.mkdir('large-gone'); open('large-gone/below', 'w').write('x')\n\
        shutil.rmtree('a' * 200); os.remove('gone'); open('edit', 'w').write('e')";
    let ran = check_folder(with_odd_files, script, LIMITS, Outcome::OutputRejected);
    let mut rows = rejected(&ran);
    let (path, reason) = rows.remove(1);
    assert!(path.starts_with("work/aaa") && reason == "name-too-long", "{path}: {reason}");
    let expected = [
        ("work/.gitmodules", "reserved"),
        ("work/large-gone", "too-big"),
        ("work/large-less", "too-big"),
    ];
    assert_eq!(rows, expected);
    assert_eq!(changed_paths(&ran), [("edit", false)]);
    assert_eq!(changes(&ran).removed, ["gone"]);
    assert!(ran.finished.collected.complete);
}

#[test]
fn an_unchanged_original_may_be_of_any_size() {
    let ran = check_folder(with_odd_files, "print('done')", LIMITS, Outcome::Ok);
    assert_eq!(changes(&ran), &WorkChanges::default());
}

#[test]
fn a_copy_that_is_gone_removes_every_file() {
    let script = "import os, shutil\nos.chdir('/')\nshutil.rmtree('/out/work')";
    let ran = check_work(script, LIMITS, Outcome::Ok);
    let files = "edit gone keep kind link outside run.sh sub/deep swap/file tolink";
    assert_eq!(changes(&ran).removed.join(" "), files);
    assert!(changes(&ran).changed.is_empty());
}

#[test]
fn another_object_in_place_of_the_copy_is_rejected() {
    let objects = [("os.symlink('/in', 'work')", "symlink"), ("open('work', 'w')", "reserved")];
    for (make, reason) in objects {
        let script = format!("import os\nos.chdir('/out')\nos.rename('work', 'moved')\n{make}");
        let ran = check_work(&script, LIMITS, Outcome::OutputRejected);
        assert!(rejected(&ran).contains(&("work", reason)), "{:?}", rejected(&ran));
        assert_eq!(changes(&ran), &WorkChanges::default());
    }
}

#[test]
fn too_many_changes_are_rejected() {
    let script = "for n in range(10001): open(f'new-{n:05}', 'w')";
    let limits = Limits { out_inodes_max: 20_000, ..LIMITS };
    let ran = check_work(script, limits, Outcome::OutputRejected);
    assert_eq!(rejected(&ran), [("work", "too-many")]);
    assert_eq!(changes(&ran).changed.len(), usize::try_from(CHANGES_MAX).unwrap());
    assert!(!ran.finished.collected.complete);
}

#[test]
fn a_file_of_the_tool_in_place_of_the_patch_is_rejected() {
    let script = "open('/out/changes.patch', 'w').write('forged')";
    let ran = check_work(script, LIMITS, Outcome::OutputRejected);
    assert_eq!(rejected(&ran), [("changes.patch", "reserved")]);
    assert!(!ran.result.join("artifacts/changes.patch").exists());
}

#[test]
fn a_folder_that_does_not_fit_never_starts() {
    let scratch = SandboxScratch::new();
    let staging = scratch.dir("staging");
    let launcher = launcher(&staging);
    let limits = Limits { out_bytes_max: MIB, ..LIMITS };
    let mut plan = plan(&staging, "print('ran')", limits);
    let slot = staging.join(plan.sandbox.slot.id.as_str());
    with_folder(&mut plan, &slot);
    let large = slot.join("repo/sub/large");
    fs::write(&large, vec![7; 2 << 20]).unwrap();
    fs::set_permissions(&large, fs::Permissions::from_mode(0o644)).unwrap();
    let Err(BuildError::SetupFailed(unable)) = launcher.build(plan).map(drop) else {
        panic!("a sandbox was built");
    };
    assert_eq!((unable.layer, unable.errno), (None, 28), "{unable}");
    let step = "cannot copy /in/repo/sub/large to /out/work";
    assert_eq!(unable.step, step, "{unable}");
}

#[test]
fn a_folder_that_is_not_there_never_starts() {
    let scratch = SandboxScratch::new();
    let staging = scratch.dir("staging");
    let mut plan = plan(&staging, "print('ran')", LIMITS);
    let folder = WorkFolder::new("other/repo").unwrap();
    plan.exec.work = Some(WorkCopy { folder, patch: "changes.patch".to_owned() });
    let Err(BuildError::SetupFailed(unable)) = launcher(&staging).build(plan).map(drop) else {
        panic!("a sandbox was built");
    };
    assert_eq!(unable.step, "cannot copy /in/other/repo to /out/work", "{unable}");
}
