//! Programs of an environment as the first word of a command: of libraries, and of an image.

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{Bench, CliOutput, RequestText};

use super::scene::{EnvironmentBench, naming};
use super::test_image::image;

toolexec_tests::as_both!(
    a_program_of_the_environment_runs,
    a_word_that_the_environment_lacks_is_refused,
    exec_runs_a_program_of_the_environment,
);

fn a_program_of_the_environment_runs(bench: &Bench) {
    let scene = EnvironmentBench::of(bench);
    let reference = scene.build_package();
    let request = naming(RequestText::of("python", "greet you 'and me'"), &reference);
    let (output, record) = bench.run_recorded(&request);
    output.assert_code(0);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "greetings you and me\n");
    bench.toolexec(["verify".as_ref(), record.path.as_os_str()]).assert_code(0);
}

fn a_word_that_the_environment_lacks_is_refused(bench: &Bench) {
    let scene = EnvironmentBench::of(bench);
    let reference = scene.build_package();
    let request = naming(RequestText::of("python", "farewell you"), &reference);
    let (output, record) = bench.run_recorded(&request);
    output.assert_code(2);
    output.assert_stderr(&["environment.mismatch", "farewell", "greet"]);
    record.assert_outcome("refused");
    // Without the environment, its program is not found either.
    let (output, _) = bench.run_recorded(&RequestText::of("python", "greet you"));
    output.assert_code(2);
    output.assert_stderr(&["command.not-permitted"]);
}

fn exec_runs_a_program_of_the_environment(bench: &Bench) {
    let scene = EnvironmentBench::of(bench);
    let reference = scene.build_package();
    let policy = bench.toolexec(["policy", "show", "embedded"]).stdout;
    assert!(policy.contains("unasked: false"));
    let policy = policy.replace("unasked: false", "unasked: true");
    let policy = bench.scratch().file("unasked.yaml", policy);
    let exec = |words: &[&str]| {
        let mut command = bench.command("toolexec");
        command.args(["exec", "--yes", "--policy"]).arg(&policy).args(words);
        CliOutput::of(&mut command)
    };
    // The beginning of the digest selects it as well as the name.
    let begun = &reference["charts@".len()..][..24];
    for word in ["charts", &reference, begun] {
        let output = exec(&["--env", word, "--", "greet", "you"]);
        output.assert_code(0);
        assert_eq!(output.stdout, "greetings you\n");
    }
    let output = exec(&["--env", "nowhere", "--", "greet", "you"]);
    output.assert_code(3);
    output.assert_stderr(&["--env: `nowhere`: no such environment", "toolexec env build"]);
    let output = exec(&["--env", "charts", "--", "farewell"]);
    output.assert_code(3);
    output.assert_stderr(&["farewell: no runtime of policy", "charts does not offer it"]);
}

/// The tool opens a file below the host's `/opt`. With the image as its root, it cannot.
#[test]
fn a_program_of_an_image_sees_the_image_only() {
    let Some(tool) = CountedTool::build("a_program_of_an_image_sees_the_image_only") else {
        return;
    };
    let bench = Bench::new();
    let scene = EnvironmentBench::of(&bench);
    let reference = scene.build("tools", &image(&bench, &tool.program()));
    let request = |command: &str| naming(RequestText::of("python", command), &reference);
    let (output, record) = bench.run_recorded(&request("tool"));
    output.assert_code(0);
    record.assert_outcome("ok");
    let counted = tool.count();
    let word = counted.run_argument("seen");
    let (_, record) = bench.run_recorded(&request(&format!("tool x {word}")));
    record.assert_outcome("exit_nonzero");
    assert_eq!(record.front_matter_value("exit_code"), "77");
    assert!(counted.counts().is_empty(), "{:?}", counted.counts());
    // The image has no interpreter, and that of the host is hidden.
    let (output, _) = bench.run_recorded(&naming(RequestText::python("pass"), &reference));
    output.assert_code(2);
    output.assert_stderr(&["environment.mismatch", "python"]);
}
