//! The review before an approval: everything that will run, as the daemon sees it. Characters,
//! length or kind hide nothing, and no secret is repeated.

use std::fs;

use model::digest_words;
use serde_json::{Value, json};
use toolexec_tests::{Bench, CliOutput, RequestText, SavedRequest};

use super::approvers::{codes, explain, rule, saved, unapproved};

fn review(bench: &Bench, request: &SavedRequest, more: &[&str]) -> CliOutput {
    let mut command = bench.command("toolexec");
    CliOutput::of(command.arg("review").arg(&request.path).args(more))
}

#[test]
fn characters_secrets_and_installs_are_made_visible() {
    let bench = Bench::new();
    let secret = ["AKIA", "QYLPMN5HFIQR7XYZ"].concat();
    let script = format!(
        "import os\nkey = '{secret}'\np\u{430}ss\u{200b}word = 1 \u{202e} #\u{1b}[2J\n\
         os.system('pip install x')\nprint(1)\n"
    );
    let request = saved(&bench, &unapproved(&script));
    for format in ["human", "json"] {
        let output = review(&bench, &request, &["--format", format]);
        output.assert_code(0);
        assert!(
            !output.stdout.contains(&secret) && !output.stderr.contains(&secret),
            "{output:#?}"
        );
        let raw = |c: char| "\u{430}\u{200b}\u{202e}\u{1b}".contains(c);
        assert!(!output.stdout.contains(raw), "{output:#?}");
    }
    let shown = review(&bench, &request, &[]).stdout;
    for line in [
        "  1 | import os",
        "! 2 | key = '********'",
        "! 3 | p\\u{430}ss\\u{200b}word = 1 \\u{202e} #\\u{1b}[2J",
        "! 4 | os.system('pip install x')",
        "  5 | print(1)",
    ] {
        assert!(shown.lines().any(|it| it == line), "no {line:?} in\n{shown}");
    }
    let object = review(&bench, &request, &["--format", "json"]).json();
    let lines = object["inputs"][0]["text"]["lines"].as_array().unwrap();
    let marks = |index: usize| lines[index]["marks"].to_string();
    assert_eq!(lines[0]["marks"], json!([]));
    assert_eq!(lines[1]["marks"], json!(["secret.aws-key"]));
    for code in ["text.bidi", "text.control", "text.confusable"] {
        assert!(marks(2).contains(code), "{object:#}");
    }
    assert_eq!(lines[3]["marks"], json!(["package.install"]));
}

#[test]
fn hidden_lines_are_counted_and_full_shows_them() {
    let bench = Bench::new();
    let script =
        format!("{}os.system('pip install x')\n{}", "x = 1\n".repeat(700), "y".repeat(3000));
    let image = b"\x89PNG\r\n\x1a\n\0\0\0";
    let text = unapproved(&script).input("a.png", image).input("run.rb", b"puts 1 \0 # \xff\n");
    let text = text.command("python script.py /in/a.png /in/run.rb");
    let request = saved(&bench, &text);
    let output = review(&bench, &request, &[]);
    output.assert_code(0);
    let more = "… 302 more lines, 1 of them marked; --full shows them";
    assert!(output.stdout.contains(more), "{}", output.stdout);
    assert!(output.stdout.contains("a PNG image, not shown"), "{}", output.stdout);
    // Code for an interpreter is shown regardless of its bytes.
    assert!(output.stdout.contains("puts 1 \\u{0} # \\xff"), "{}", output.stdout);
    let full = review(&bench, &request, &["--full"]).stdout;
    assert!(full.contains("! 701 | os.system('pip install x')"), "{full}");
    assert!(full.contains(&"y".repeat(3000)) && !full.contains("more lines"), "{full}");
}

#[test]
fn explain_says_everything_but_the_texts() {
    let bench = Bench::new();
    let text = unapproved("print(1)\n").output("o.txt").command("python script.py 'two words'");
    let request = saved(&bench, &text);
    let output = explain(&bench, &request, &[]);
    output.assert_code(0);
    let object = output.json();
    assert_eq!(object["verdict"], json!("pending"));
    assert_eq!(object["filled_on_approval"], json!(["approved_by", "approved_utc"]));
    assert_eq!(object["approval"]["approved_by"], Value::Null);
    assert_eq!(object["policy"]["name"], json!("standard"));
    assert_eq!(object["command"]["argv"], json!(["python", "script.py", "two words"]));
    let program = object["sandbox"]["program"].as_str().unwrap();
    assert!(program.starts_with('/'), "{program}");
    assert_eq!(object["sandbox"]["argv"], json!([program, "script.py", "two words"]));
    assert_eq!(object["sandbox"]["directory"], json!("/in"));
    assert_eq!(object["sandbox"]["environment"]["HOME"], json!("/tmp"));
    assert_eq!(object["sandbox"]["limits"]["wall_ms_max"], json!(20_000));
    assert_eq!(object["outputs"][0]["path"], json!("o.txt"));
    let input = &object["inputs"][0];
    assert_eq!(input["sha256"], input["sha256_declared"]);
    assert_eq!([&input["bytes"], &input["text"]], [&json!(9), &Value::Null]);
    assert_eq!(object["risk"]["class"], json!("low"));
    assert_eq!(rule(&object, "approval.count").0, "pending");
    assert_eq!(rule(&object, "approval.single-use").0, "pending");
    assert_eq!(rule(&object, "limits.time").0, "pass");
    // The digest is that of the file, independent of the approver.
    let mut command = bench.command("sha256sum");
    let digest = CliOutput::of(command.arg(&request.path)).stdout;
    assert_eq!(object["sha256"], json!(digest[..64]));
    assert_eq!(object["words"], json!(digest_words(&digest[..64].parse().unwrap())));
    let human = bench.toolexec(["explain", request.path.to_str().unwrap()]);
    human.assert_code(0);
    assert!(human.stdout.contains("    3  \"two words\"\n"), "{}", human.stdout);
    assert!(!human.stdout.contains("print(1)"), "{}", human.stdout);
}

#[test]
fn review_shows_refusals_that_no_approval_changes() {
    let bench = Bench::new();
    let request = saved(&bench, &unapproved("print(1)\n").memory_mb(999_999));
    fs::write(request.inputs.join("script.py"), "print(22)\n").unwrap();
    let output = explain(&bench, &request, &[]);
    output.assert_code(2);
    let object = output.json();
    assert_eq!(object["verdict"], json!("refused"));
    let found = codes(&object["violations"]);
    for code in ["inputs.mismatch", "limits.over-policy"] {
        assert!(found.contains(&code), "{object:#}");
    }
    assert_eq!(object["sandbox"], Value::Null);
    assert_ne!(object["inputs"][0]["sha256"], object["inputs"][0]["sha256_declared"]);
    let shown = review(&bench, &request, &[]);
    shown.assert_code(2);
    assert!(shown.stdout.contains("DIGEST DIFFERS"), "{}", shown.stdout);
    assert!(shown.stdout.contains("REFUSED: no approval can change this"), "{}", shown.stdout);
    let unreadable = saved(&bench, &RequestText::python("x").edit("---\n", "--\n"));
    let object = explain(&bench, &unreadable, &[]).json();
    assert_eq!(object["verdict"], json!("refused"));
    assert_eq!(object["rules"], Value::Null);
}

#[test]
fn code_cannot_hide_behind_a_spelling_a_byte_or_an_encoding() {
    let bench = Bench::new();
    let hidden = b"require('child_process') // \0\n";
    for command in [
        "node ./main.js --require=./data.bin",
        "node --require=./data.bin main.js",
        "node --import=./data.bin main.js",
        "node /in//data.bin",
        "node main.js",
    ] {
        let text = RequestText::of("node", command).input("main.js", b"1\n");
        let output = review(&bench, &saved(&bench, &text.input("data.bin", hidden)), &[]);
        let shown = " 1 | require('child_process') // \\u{0}";
        assert!(output.stdout.contains(shown), "{command}: {}", output.stdout);
    }
    let text = unapproved("# coding: utf-7\nprint(1)\n").input("tool", b"\x7fELF\x02\0\0\0");
    let text = text.input("other", b"\x7fELF\x02\0\0\0");
    let request = saved(&bench, &text.command("python script.py --with=/in//tool"));
    let output = review(&bench, &request, &[]);
    let lines: Vec<&str> = output.stdout.lines().collect();
    for line in
        ["! an ELF program, not shown, and the COMMAND NAMES IT", "  an ELF program, not shown"]
    {
        assert!(lines.iter().any(|it| it.starts_with(line)), "no {line:?} in\n{}", output.stdout);
    }
    assert!(lines.contains(&"! 1 | # coding: utf-7"), "{}", output.stdout);
    let object = review(&bench, &request, &["--format", "json"]).json();
    let named: Vec<&Value> =
        object["inputs"].as_array().unwrap().iter().map(|it| &it["command_names_it"]).collect();
    assert_eq!(json!(named), json!([true, true, false]));
}
