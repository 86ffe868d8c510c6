//! A draft names an environment by its digest, and a file with another form of the name is refused.

use std::fs;

use toolexec_tests::{Bench, CliOutput, RequestText, list};

use super::scene::{EnvironmentBench, digest, naming};

/// All required options of a draft, and its command.
const DRAFT: [&str; 13] = [
    "--purpose",
    "A test",
    "--language",
    "python",
    "--risk",
    "low",
    "--sensitivity",
    "public",
    "--justification",
    "it is a test",
    "--",
    "greet",
    "you",
];

fn draft(bench: &Bench, environment: &str, slug: &str) -> CliOutput {
    let mut command = bench.command("toolexec");
    command.args(["draft", "--format", "json", "--slug", slug, "--env", environment]).args(DRAFT);
    CliOutput::of(&mut command)
}

#[test]
fn a_draft_names_the_digest_of_its_environment() {
    let bench = Bench::new();
    let scene = EnvironmentBench::of(&bench);
    let reference = scene.build_package();
    let hex = digest(&reference);
    let whole = format!("sha256:{hex}");
    for (number, word) in ["charts", &reference, &whole, &hex[..12]].into_iter().enumerate() {
        let output = draft(&bench, word, &format!("d{number}"));
        output.assert_code(0);
        let path = bench.home().join(output.json()["request"].as_str().unwrap());
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains(&format!("x-environment: \"{reference}\"\n")), "{word}: {text}");
    }
}

/// The store of embedded runs is made by the first build.
#[test]
fn before_the_first_build_no_environment_exists() {
    let bench = Bench::new();
    for words in [&["show", "charts"][..], &["rm", "charts"], &["verify", "charts"]] {
        let output = CliOutput::of(bench.command("toolexec").arg("env").args(words));
        output.assert_code(2);
        output.assert_stderr(&["`charts`: no such environment", "toolexec env build"]);
    }
}

/// Another host may have the environment. Only a whole reference can name it.
#[test]
fn a_draft_for_another_host_needs_the_whole_reference() {
    let bench = Bench::new();
    let reference = format!("charts@sha256:{}", "3f".repeat(32));
    draft(&bench, &reference, "whole").assert_code(0);
    let drafts = list(&bench.home());
    for word in ["charts", "3f3f3f3f3f3f", "charts@3f"] {
        let output = draft(&bench, word, "part");
        output.assert_code(3);
        output.assert_stderr(&["--env: ", word, "no such environment", "toolexec env build"]);
    }
    assert_eq!(list(&bench.home()), drafts, "a refused draft was written");
}

#[test]
fn other_forms_of_a_reference_are_refused() {
    let bench = Bench::new();
    let hex = "3f".repeat(32);
    let upper = hex.to_uppercase();
    for value in [
        "charts".to_owned(),
        format!("charts@{hex}"),
        format!("charts@sha256:{upper}"),
        format!("Charts@sha256:{hex}"),
        format!("charts@sha256:{}", &hex[1..]),
        format!("charts @sha256:{hex}"),
    ] {
        let request = naming(RequestText::of("python", "greet you"), &value);
        let file = bench.save(&request);
        let output = bench.toolexec(["lint".as_ref(), file.path.as_os_str()]);
        output.assert_code(2);
        assert!(output.stdout.contains("x-environment"), "{value}: {output:#?}");
    }
}
