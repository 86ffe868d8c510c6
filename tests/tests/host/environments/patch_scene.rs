//! A folder with files of each kind, tools that change it, and runs that return the changes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use toolexec_tests::{Bench, CliOutput, Record, list};

use super::folder_scene::{draft, exec, files_below};
use super::scene::write;

/// The options and the command of a run of the tool on the folder.
pub(super) const WORDS: [&str; 8] =
    ["--input", "repo", "--input", "tool.py", "--patch", "--", "python", "/in/tool.py"];

/// Changes the directory in which it starts.
pub(super) const CHANGES: &str = "import os, pathlib, shutil\n\
    lines = open('text.txt').read().splitlines()\n\
    lines[3] = 'another line'\n\
    lines[30:32] = []\n\
    open('text.txt', 'w').write('\\n'.join(lines))\n\
    open('a name \"quoted\".txt', 'a').write('more\\n')\n\
    open('\u{e4}/data.bin', 'r+b').write(b'\\xff\\x00\\xfe')\n\
    open('new image', 'wb').write(bytes(range(256)) * 20)\n\
    open('empty', 'w').close()\n\
    pathlib.Path('a/b c').mkdir(parents=True)\n\
    open('a/b c/run.sh', 'w').write('#!/bin/sh\\n')\n\
    os.chmod('a/b c/run.sh', 0o755)\n\
    os.chmod('script.sh', 0o755)\n\
    os.chmod('program', 0o644)\n\
    os.remove('old link')\n\
    os.remove('kind')\n\
    os.mkdir('kind')\n\
    open('kind/within', 'w').write('a file before\\n')\n\
    os.mkdir('no file')\n\
    shutil.rmtree('gone')\n";

/// Writes the folder `repo` and the tool.
pub(super) fn folder(bench: &Bench, tool: &str) {
    let repo = bench.home().join("repo");
    let text: String = (0..60).map(|number| format!("line {number}\n")).collect();
    write(&repo.join("text.txt"), text, 0o644);
    for (name, content, mode) in [
        ("a name \"quoted\".txt", "one\n", 0o644),
        ("\u{e4}/data.bin", "\x00\x01\x02\x03", 0o644),
        ("same.txt", "same", 0o644),
        ("script.sh", "#!/bin/sh\n", 0o644),
        ("program", "#!/bin/sh\n", 0o755),
        ("kind", "a file\n", 0o644),
        ("gone/now.txt", "no end of the line", 0o644),
        ("gone/image", "\x00gone", 0o644),
    ] {
        write(&repo.join(name), content, mode);
    }
    symlink("same.txt", repo.join("old link")).unwrap();
    symlink("same.txt", repo.join("kept link")).unwrap();
    write(&bench.home().join("tool.py"), tool, 0o644);
}

/// Runs the tool on the folder, and returns the output with the only record.
#[track_caller]
pub(super) fn run_tool(bench: &Bench, tool: &str) -> (CliOutput, Record) {
    folder(bench, tool);
    let output = exec(bench, &WORDS);
    let results = list(&bench.results());
    assert_eq!(results.len(), 1, "{output:#?}");
    bench.assert_nothing_left();
    let record = Record::at(&bench.results().join(&results[0]));
    bench.toolexec([&"verify".into(), &record.path]).assert_code(0);
    (output, record)
}

pub(super) fn patch_of(record: &Record) -> Vec<u8> {
    fs::read(record.path.join("artifacts/changes.patch")).unwrap()
}

/// Runs a command as the acting user, for which no directory above the home is a repository.
#[track_caller]
pub(super) fn run_ok(bench: &Bench, directory: &Path, words: &[&str]) {
    let mut command = bench.command(words[0]);
    command.args(&words[1..]).current_dir(directory);
    command.env("GIT_CEILING_DIRECTORIES", bench.home());
    CliOutput::of(&mut command).assert_code(0);
}

/// Returns the content of each file and link, and whether the owner may execute it.
pub(super) fn content(directory: &Path) -> BTreeMap<String, (bool, Vec<u8>)> {
    let read = |name: String| {
        let path = directory.join(&name);
        let kept = match fs::read_link(&path) {
            Ok(target) => (false, target.into_os_string().into_encoded_bytes()),
            Err(_) => {
                let mode = fs::metadata(&path).unwrap().permissions().mode();
                (mode & 0o100 != 0, fs::read(&path).unwrap())
            }
        };
        (name, kept)
    };
    files_below(directory).into_iter().map(read).collect()
}

/// Drafts a request, fills in its approval, and returns its path.
#[track_caller]
pub(super) fn approved(bench: &Bench, words: &[&str]) -> PathBuf {
    let output = draft(bench, words);
    output.assert_code(0);
    let request = bench.home().join(output.json()["request"].as_str().unwrap());
    let now = CliOutput::of(bench.command("date").args(["-u", "+%FT%TZ"])).stdout;
    let text = fs::read_to_string(&request).unwrap();
    let filled = text
        .replace("approved_by: \"\"", "approved_by: \"tester\"")
        .replace("approved_utc: \"\"", &format!("approved_utc: \"{}\"", now.trim()));
    fs::write(&request, filled).unwrap();
    request
}

/// Asserts that the record lists each of these paths with its reason.
#[track_caller]
pub(super) fn assert_rejected(record: &Record, wanted: &[(&str, &str)]) {
    let front = record.text.split("\n---\n").next().unwrap();
    let plain = |line: &'_ str| line.trim_matches([' ', '-']).replace('"', "");
    let rows: Vec<String> = front.lines().map(plain).collect();
    for (path, reason) in wanted {
        let row = [format!("path: {path}"), format!("reason: {reason}")];
        assert!(rows.windows(2).any(|pair| pair == row), "{row:?} is not in {front}");
    }
}
