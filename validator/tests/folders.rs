//! Folders as inputs: their names, the paths that they declare, and overlaps.

use crate::support;
use support::{checked, errors, warnings, with};

/// Returns the valid request with a folder as its third input, these lines about it under
/// `## Input Files`, and this command.
fn with_folder(lines: &str, command: &str) -> String {
    let item = format!("  - name: \"repo/\"\n    sha256: \"{}\"\n", support::HASH);
    with("outputs_expected:\n", &format!("{item}outputs_expected:\n"))
        .replace("- `/in/script.py`", &format!("- `/in/script.py`\n{lines}"))
        .replace(support::COMMAND, command)
}

#[test]
fn a_folder_is_an_input() {
    let line = format!("- `/in/repo/` sha256: {}", support::HASH);
    let text = with_folder(&line, "python -m unittest discover -s /in/repo/tests");
    let request = checked(text).verdict.ok().unwrap();
    let folder = &request.inputs()[2];
    assert_eq!((folder.name(), folder.path(), folder.is_tree()), ("repo/", "repo", true));
    assert!(request.to_text().unwrap().contains("- /in/repo/ sha256: "));
    let file = &request.inputs()[0];
    assert_eq!((file.name(), file.path(), file.is_tree()), ("input.csv", "input.csv", false));
}

/// A path in a declared folder is declared, unless it has `..`.
#[test]
fn a_folder_declares_what_is_in_it() {
    let other = "0".repeat(64);
    let folder_digest = format!("- /in/repo/ sha256: {other}");
    let file_digest = format!("- /in/repo/\n- /in/repo/a.py sha256: {other}");
    for (lines, command, codes) in [
        ("- /in/repo/", "python script.py /in/repo", ""),
        ("- /in/repo/", "python script.py /in/repo/.github/x.yml", ""),
        ("- /in/repo: the code", "python script.py repo/src", ""),
        ("- /in/repo/", "python /in/repo/main.py", ""),
        ("- /in/repo/", "python repo", ""),
        ("- /in/repo/", "python -m repo.main", ""),
        ("- /in/repo/", "python -c 'open(\"/in/repo/a.csv\")'", ""),
        ("- /in/repo/\n- /in/repo/src/main.py", "python repo/src/main.py", ""),
        ("- /in/repo/src", support::COMMAND, "inputs.missing"),
        ("- /in/repo/\n- /in/repository/a", support::COMMAND, "inputs.undeclared"),
        ("- /in/repo/", "python script.py /in/repository/a", "command.undeclared-file"),
        ("- /in/repo/", "python repo.py", "command.undeclared-file"),
        ("- /in/repo/", "python script.py /in/repo/../x", "command.undeclared-file path.traversal"),
        (folder_digest.as_str(), support::COMMAND, "inputs.mismatch"),
        (file_digest.as_str(), support::COMMAND, "inputs.mismatch"),
    ] {
        let text = with_folder(lines, command);
        assert_eq!(errors(&text).join(" "), codes, "{lines:?}, {command:?}");
    }
}

#[test]
fn a_folder_and_another_input_never_overlap() {
    let pair = |first: &str, second: &str| {
        let second = format!("name: \"{second}\"");
        let text = with("name: \"input.csv\"", &format!("name: \"{first}\""));
        errors(text.replace("name: \"script.py\"", &second))
    };
    for (one, other) in [
        ("repo/", "repo/"),
        ("repo/", "repo"),
        ("repo/", "repo/a.txt"),
        ("repo/", "repo/a/"),
        ("repo", "repo/a/"),
        ("a/repo/", "a/repo/b/c"),
    ] {
        for codes in [pair(one, other), pair(other, one)] {
            assert!(codes.contains(&"inputs.duplicate".to_owned()), "{one}, {other}: {codes:?}");
        }
    }
    for (one, other) in [("repo/", "repo.txt"), ("repo/", "repo-a/b"), ("a/b/", "a/c/")] {
        for codes in [pair(one, other), pair(other, one)] {
            assert!(!codes.contains(&"inputs.duplicate".to_owned()), "{one}, {other}: {codes:?}");
        }
    }
}

#[test]
fn an_unused_folder_is_a_warning() {
    for (command, codes) in [
        ("python -m json.tool /in/input.csv", &["inputs.unused"][..]),
        ("python -m json.tool /in/input.csv /in/repo/a.json", &[]),
        ("python -m json.tool /in/input.csv repo", &[]),
        ("python -m repo.main /in/input.csv", &[]),
        // The script may load sources from it.
        (support::COMMAND, &[]),
    ] {
        assert_eq!(warnings(with_folder("- /in/repo/", command)), codes, "{command}");
    }
}
