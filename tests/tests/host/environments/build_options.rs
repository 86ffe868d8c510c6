//! The options of `env build`, a source that cannot be built, and a home without environments.

use std::fs;
use std::process::Command;

use toolexec_tests::{Bench, CliOutput, list};

use super::scene::{EnvironmentBench, package, write};

fn build(bench: &Bench) -> Command {
    let mut command = bench.command("toolexec");
    command.args(["env", "build", "charts", "--from"]);
    command
}

/// A directory with a file `oci-layout` is an image, unless the user says otherwise.
#[test]
fn a_directory_that_looks_like_an_image_is_copied() {
    let bench = Bench::new();
    let _scene = EnvironmentBench::of(&bench);
    let package = package(&bench);
    fs::write(package.join("oci-layout"), "{}").unwrap();
    CliOutput::of(build(&bench).arg(&package)).assert_code(2);
    CliOutput::of(build(&bench).arg(&package).args(["--kind", "directory"])).assert_code(0);
}

#[test]
fn a_program_that_takes_too_long_is_ended() {
    let bench = Bench::new();
    let programs = bench.scratch().dir("programs");
    write(&programs.join("uv"), "#!/bin/sh\nexec sleep 60\n", 0o755);
    let path = format!("{}:/usr/bin:/bin", programs.display());
    let hash = "--hash=sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let source = bench.home().join("requirements.txt");
    fs::write(&source, format!("a==1 {hash}\n")).unwrap();
    let output =
        CliOutput::of(build(&bench).arg(&source).args(["--time-max", "1"]).env("PATH", path));
    output.assert_code(1);
    output.assert_stderr(&["ended after 1 seconds"]);
    let store = bench.state().join("environments");
    assert!(list(&store).iter().all(|name| !name.starts_with("sha256-")), "{:?}", list(&store));
}

#[test]
fn a_damaged_image_is_named() {
    let bench = Bench::new();
    fs::write(bench.home().join("image.tar"), [0; 10240]).unwrap();
    let output = CliOutput::of(build(&bench).arg("image.tar"));
    output.assert_code(2);
    output.assert_stderr(&["image.tar: `manifest.json`: "]);
}

#[test]
fn a_home_without_environments_is_no_error() {
    let bench = Bench::new();
    for (words, code) in [(&["verify"][..], 0), (&["gc"], 0), (&["verify", "charts"], 2)] {
        let output = CliOutput::of(bench.command("toolexec").arg("env").args(words));
        output.assert_code(code);
    }
}
