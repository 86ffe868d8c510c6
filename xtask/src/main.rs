//! Developer commands: `cargo xtask` lists them.
//!
//! SECURITY: runs as the developer, is not part of a package, and starts only programs of the
//! toolchain and scripts of this repository.
//!
//! Must never: do more than start other programs, so that each step can be repeated by hand. Each
//! command line is printed before it runs.

#![forbid(unsafe_code)]

mod bench;
mod quick;
mod run;
mod workspace;

use std::process::ExitCode;

const HELP: &str = "\
Run the checks of this repository

Usage: cargo xtask <COMMAND>

Commands:
  quick [CRATE]...         Check formatting, lints, tests and source rules of the crates that changed
                           since the last commit, or of those named
  test [ARGS]...           Run the whole test suite (tests/run)
  ci [--full]              Run what every change must pass (.ci/run)
  bench NAME [COMMIT]      Compare a bench with that of a commit, by default the last one's parent
  fuzz TARGET|all [SECS]   Fuzz the parsers (fuzz/run)
  example NAME             Run an example (examples/run)

Exit status: that of the first step that fails.
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((command, rest)) = args.split_first() else {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    };
    let result = match command.as_str() {
        "quick" => quick::quick(rest),
        "test" => run::script("tests/run", rest),
        "ci" => run::script(".ci/run", rest),
        "bench" => bench::bench(rest),
        "fuzz" => run::script("fuzz/run", rest),
        "example" => run::script("examples/run", rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => {
            Err(format!("xtask: unknown command \"{other}\"\nhelp: run `cargo xtask` for the list"))
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
