//! `toolexec completions`: shell completions, generated from the definitions of the command line.

use std::process::ExitCode;

use clap::{Args, Command, ValueEnum};
use clap_complete::aot::{self, Bash, Fish, Generator, Zsh};

use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec completions bash > ~/.local/share/bash-completion/completions/toolexec
         toolexec completions zsh > ~/.zfunc/_toolexec
         toolexec completions fish > ~/.config/fish/completions/toolexec.fish

The Debian package installs these files. Use this command for other installations.")]
pub(crate) struct CompletionsCommand {
    /// Select the shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

pub(in crate::commands) fn completions(
    args: &CompletionsCommand,
    program: &mut Command,
) -> Result<ExitCode, Failure> {
    let text = match args.shell {
        Shell::Bash => script(Bash, program),
        Shell::Zsh => script(Zsh, program),
        Shell::Fish => script(Fish, program),
    };
    output::text(&text?)?;
    Ok(ExitCode::SUCCESS)
}

fn script(shell: impl Generator, program: &mut Command) -> Result<String, Failure> {
    let mut text = Vec::new();
    aot::generate(shell, program, "toolexec", &mut text);
    String::from_utf8(text).map_err(|error| {
        Failure::Message(format!("completions: {error}; help: report this as a bug"))
    })
}
