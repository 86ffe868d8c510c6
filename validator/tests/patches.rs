//! `x-patch-of`: the folder that it names, what else the request may then declare, and the paths
//! that mean something else when the tool starts in the copy of a folder.
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use crate::support;

use model::Sha256;
use support::{checked, errors, warnings, with_patch};
use validator::PatchOutput;

const FOLDER: &str = "input.csv/";

/// Returns the valid request with a patch and this command.
fn with_command(command: &str) -> String {
    let text = with_patch(FOLDER);
    let from = "python -u /in/script.py --in /in/input.csv --out /out/output.json";
    assert!(text.contains(from), "{text}");
    text.replace(from, command)
}

#[test]
fn a_patch_is_an_output_of_a_folder() {
    let request = checked(with_patch(FOLDER)).verdict.ok().unwrap();
    assert_eq!(request.outputs_expected()[0].patch_of(), Some(FOLDER));
    let patch = PatchOutput { path: "output.json", folder: "input.csv" };
    assert_eq!(request.patch(), Some(patch));
    let without = checked(support::valid()).verdict.ok().unwrap();
    assert_eq!((without.patch(), without.outputs_expected()[0].patch_of()), (None, None));
}

#[test]
fn only_a_declared_folder_is_compared() {
    for folder in ["input.csv", "script.py/", "other/", "/in/input.csv/", "../", "/", "", "a b/"] {
        assert!(errors(with_patch(folder)).contains(&"outputs.patch".to_owned()), "{folder}");
    }
    for (value, codes) in [
        ("null", "frontmatter.type"),
        ("7", "frontmatter.type"),
        ("[input.csv/]", "frontmatter.type"),
        ("input.csv/", ""),
    ] {
        let quoted = format!("x-patch-of: \"{FOLDER}\"");
        let text = with_patch(FOLDER).replace(&quoted, &format!("x-patch-of: {value}"));
        assert_eq!(errors(text).join(" "), codes, "{value}");
    }
    let other = with_patch(FOLDER).replace("x-patch-of", "x-other");
    assert!(errors(other).contains(&"frontmatter.unknown-key".to_owned()));
}

#[test]
fn one_output_is_a_patch_and_none_is_in_the_copy() {
    let with_output = |path: &str, more: &str| {
        let item = format!("  - path: \"{path}\"\n    description: \"x\"\n{more}constraints:\n");
        let line = format!("- `/out/output.json`: the statistics\n- /out/{path}\n");
        with_patch(FOLDER)
            .replace("constraints:\n", &item)
            .replace("- `/out/output.json`: the statistics\n", &line)
    };
    let second = format!("    x-patch-of: \"{FOLDER}\"\n");
    assert_eq!(errors(with_output("b.patch", &second)), ["outputs.patch"]);
    for path in ["work", "work/a.txt", "work/a/b"] {
        assert_eq!(errors(with_output(path, "")), ["outputs.patch"], "{path}");
    }
    for path in ["works", "work.txt", "a/work"] {
        assert_eq!(errors(with_output(path, "")), [""; 0], "{path}");
    }
}

#[test]
fn the_copy_is_declared_in_the_text() {
    let with_line = |text: String, line: &str| {
        let old = "- `/out/output.json`: the statistics";
        text.replace(old, &format!("{old}\n{line}"))
    };
    for line in ["- /out/work", "- /out/work/", "- the changes in /out/work/src/.github/a.yml."] {
        assert_eq!(errors(with_line(with_patch(FOLDER), line)), [""; 0], "{line}");
        assert_eq!(errors(with_line(support::valid(), line)), ["outputs.path"], "{line}");
    }
    let codes = errors(with_line(with_patch(FOLDER), "- /out/works"));
    assert_eq!(codes, ["outputs.path"]);
    let codes = errors(with_line(with_patch(FOLDER), "- /out/work/../x"));
    assert!(codes.contains(&"outputs.path".to_owned()), "{codes:?}");
}

/// The tool starts in /out/work: a relative path is in the folder.
#[test]
fn relative_paths_are_in_the_copy() {
    for (command, codes) in [
        ("python fix.py", ""),
        ("python src/fix.py /out/work/a", ""),
        ("python /out/work/fix.py", ""),
        ("python /in/script.py", ""),
        ("python -m tests.all", ""),
        ("python -m script.py", ""),
        ("python .", ""),
        ("python script.py", "command.undeclared-file"),
        ("python ./script.py", "command.undeclared-file"),
        ("python /in/other.py", "command.undeclared-file"),
        ("python ../script.py", "path.traversal"),
        ("python fix.py /in/other.csv", "command.undeclared-file"),
    ] {
        assert_eq!(errors(with_command(command)).join(" "), codes, "{command}");
    }
}

#[test]
fn the_folder_of_a_patch_is_used() {
    for command in ["python /in/script.py", "python fix.py", "python -m json.tool data.json"] {
        assert_eq!(warnings(with_command(command)), [""; 0], "{command}");
    }
    let table = with_command("python fix.py input.txt").replace("script.py", "input.txt");
    assert_eq!(warnings(table), ["inputs.unused"]);
}

#[test]
fn another_patch_is_another_intent() {
    let intent = |text: String| checked(text).verdict.ok().unwrap().intent_sha256();
    let patch = with_patch(FOLDER);
    let json = format!(
        "{{\"argv\":[\"python\",\"-u\",\"/in/script.py\",\"--in\",\"/in/input.csv\",\"--out\",\
         \"/out/output.json\"],\"hosts\":[],\"inputs\":{{\"input.csv/\":\"{0}\",\"script.py\":\
         \"{0}\"}},\"limits\":{{\"cpu_limit\":\"2\",\"memory_limit_mb\":1024,\"time_limit_sec\":\
         120}},\"network\":\"none\",\"outputs\":[\"output.json\"],\"patch\":{{\"folder\":\
         \"input.csv\",\"path\":\"output.json\"}},\"request_id\":\"{1}\"}}",
        support::HASH,
        support::ID
    );
    assert_eq!(intent(patch.clone()), Sha256::of(json.as_bytes()));
    let none = patch.replace("    x-patch-of: \"input.csv/\"\n", "");
    let second = "  - path: \"b.json\"\n    description: \"x\"\n";
    let with_second = |text: &str, more: &str| {
        text.replace("constraints:\n", &format!("{second}{more}constraints:\n"))
            .replace("- `/out/output.json`", "- /out/b.json\n- `/out/output.json`")
    };
    let first_of_two = intent(with_second(&patch, ""));
    let second_of_two = intent(with_second(&none, "    x-patch-of: \"input.csv/\"\n"));
    let all = [intent(patch), intent(none), first_of_two, second_of_two];
    for (index, one) in all.iter().enumerate() {
        assert!(all.iter().skip(index + 1).all(|other| other != one), "{index}");
    }
}
