//! The commands about patches: `draft --patch`, `review`, `show --patch`, and the section of the
//! page.

use std::fs;

use toolexec_tests::{Bench, CliOutput, DocPage, at_a_terminal, list};

use super::folder_scene::{draft, exec};
use super::patch_scene::{CHANGES, WORDS, approved, folder, patch_of, run_tool};

#[test]
fn a_terminal_shows_no_control_character_of_a_patch() {
    let test = "a_terminal_shows_no_control_character_of_a_patch";
    let bench = Bench::new();
    let tool = "open('same.txt', 'w').write('red \\x1b[31m and \\u202e\\n')\n";
    let (_, record) = run_tool(&bench, tool);
    let words = ["show", "--patch", record.path.to_str().unwrap()];
    let Some(output) = at_a_terminal(&bench, test, &[], &words) else { return };
    output.assert_code(0);
    assert!(output.stdout.contains("\n+red \\u{1b}[31m and \\u{202e}\r\n"), "{output:#?}");
    assert!(!output.stdout.contains('\x1b'), "{output:#?}");
    assert_eq!(bench.toolexec(words).stdout.as_bytes(), patch_of(&record));
}

#[test]
fn a_draft_asks_for_the_patch_of_the_only_folder() {
    let bench = Bench::new();
    folder(&bench, CHANGES);
    let request = approved(&bench, &WORDS);
    let text = fs::read_to_string(&request).unwrap();
    assert!(text.contains("x-patch-of: \"repo/\""), "{text}");
    let policy = bench.toolexec(["policy", "show", "embedded"]).stdout;
    let policy = bench.scratch().file("embedded.yaml", policy);
    let mut review = bench.command("toolexec");
    let review = CliOutput::of(review.arg("review").arg(&request).arg("--policy").arg(policy));
    review.assert_code(0);
    for text in [
        "\n  /out/changes.patch: the changes to repo/; ",
        "/out/work  (read, write) a copy of /in/repo; the working directory\n",
    ] {
        assert!(review.stdout.contains(text), "{text:?} is not in {review:#?}");
    }

    let file = ["--input", "tool.py", "--patch", "--", "python", "/in/tool.py"];
    let output = draft(&bench, &file);
    output.assert_code(3);
    output.assert_stderr(&["--patch: the inputs have no folder", "--input DIR"]);
    let output = draft(&bench, &[&["--input", "other=repo"][..], &WORDS].concat());
    output.assert_code(3);
    output.assert_stderr(&["--patch: the inputs have 2 folders", "x-patch-of"]);
}

#[test]
fn a_record_without_a_patch_is_explained() {
    let bench = Bench::new();
    folder(&bench, "print('done')\n");
    exec(&bench, &["--input", "tool.py", "--", "python", "tool.py"]).assert_code(0);
    let record = bench.results().join(&list(&bench.results())[0]);
    let output = bench.toolexec(["show", "--patch", record.to_str().unwrap()]);
    output.assert_code(2);
    output.assert_stderr(&["no patch: its request asks for none", "--patch"]);
    assert_eq!(output.stdout, "");
}

/// A patch that was changed later is not printed.
#[test]
fn a_changed_patch_is_not_printed() {
    let bench = Bench::new();
    let (_, record) = run_tool(&bench, CHANGES);
    let patch = record.path.join("artifacts/changes.patch");
    let text = fs::read_to_string(&patch).unwrap().replace("another line", "one more line");
    fs::write(&patch, text).unwrap();
    let output = bench.toolexec(["show", "--patch", record.path.to_str().unwrap()]);
    output.assert_code(1);
    output.assert_stderr(&["does not verify", "changes.patch"]);
    assert_eq!(output.stdout, "");
}

#[test]
fn a_patch_is_printed_only_with_a_known_key() {
    let bench = Bench::new();
    let (_, record) = run_tool(&bench, CHANGES);
    let path = record.path.to_str().unwrap();
    let signers = fs::read(bench.state().join("keys/allowed_signers")).unwrap();
    let signers = bench.scratch().file("signers", signers);
    let state = bench.scratch().dir("elsewhere");
    fs::create_dir(state.join("keys")).unwrap();
    let words = ["show", "--patch", path, "--state", state.to_str().unwrap()];
    let output = bench.toolexec(words);
    output.assert_code(1);
    output.assert_stderr(&["not verified: no trusted key", "--result-keys"]);
    assert_eq!(output.stdout, "");
    let keys = ["--result-keys", signers.to_str().unwrap()];
    let output = bench.toolexec([&words[..], &keys[..]].concat());
    output.assert_code(0);
    assert_eq!(output.stdout.as_bytes(), patch_of(&record));
    let other = bench.home().join("other");
    let other = other.to_str().unwrap();
    bench.toolexec(["keys", "init", "--state", other]).assert_code(0);
    let shown = bench.toolexec(["keys", "show", "--state", other]);
    let others = bench.scratch().file("others", &shown.stdout);
    let keys = ["--result-keys", others.to_str().unwrap()];
    let output = bench.toolexec([&words[..], &keys[..]].concat());
    output.assert_code(1);
    output.assert_stderr(&["does not verify", "help: name the keys of its host"]);
}

/// Types the section, and compares the screens with the page.
#[test]
fn the_commands_of_the_section_on_patches_work() {
    let test = "the_commands_of_the_section_on_patches_work";
    let bench = Bench::new();
    let section = DocPage::open("docs/environments.md").section("Get a patch back");
    let [files, patch] = &section.blocks("sh")[..] else { panic!("not two blocks to type") };
    CliOutput::of(&mut bench.shell(files)).assert_code(0);
    let [block] = &section.blocks("console")[..] else { panic!("not one block for a terminal") };
    let (command, shown) = block.split_once('\n').unwrap();
    let words: Vec<&str> = command.strip_prefix("$ toolexec ").unwrap().split(' ').collect();
    let Some(output) = at_a_terminal(&bench, test, &[("Run it?", "y")], &words) else { return };
    output.assert_code(0);
    let known = shown.lines().map(|line| line.split('…').next().unwrap());
    let missing: Vec<_> = known.filter(|line| !output.stdout.contains(line)).collect();
    assert!(missing.is_empty(), "{missing:?} is not in {output:#?}");
    let output = CliOutput::of(&mut bench.shell(patch));
    output.assert_code(0);
    for text in ["-the color of the sky\n", "+a grey day\n"] {
        assert!(output.stdout.contains(text), "{text:?} is not in {output:#?}");
    }
    assert!(output.stdout.ends_with(&section.blocks("text")[0]), "{output:#?}");
}
