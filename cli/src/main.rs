//! toolexec: what people and CORE use: check a request, run it here and now, drop it into a spool,
//! look at results, verify them.
//!
//! SECURITY. This program has the rights of whoever types it and asks for no others. It reads requests
//! and results that others wrote: bounded, escaped before they are shown, never executed. `run` has
//! the tool confined by the launcher just as the daemon does; it never falls back to less. Of its
//! commands only `log witness` reaches a network, and only at the address that was typed.

#![forbid(unsafe_code)]

mod ais;
mod approve;
mod args;
mod clock;
mod code;
mod doctor;
mod draft;
mod failure;
mod gate;
mod gc;
mod inputs;
mod keys;
mod lint;
mod log;
mod manual;
mod mcp;
#[cfg(test)]
mod message_tests;
mod options;
mod order;
mod output;
mod permission;
mod policy;
mod promote;
mod queue;
mod reject;
mod replay;
mod review;
mod run;
mod verify;

use std::process::ExitCode;

use clap::CommandFactory;
use failure::Failure;
use options::{Command, Options};
use spool::Order;

fn main() -> ExitCode {
    let options = match Options::from_arguments() {
        Ok(options) => options,
        Err(code) => return code,
    };
    // What the libraries warn of: leftovers that could not be removed, room that was used up.
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_writer(std::io::stderr)
        .with_ansi(output::screen::Screen::of(&std::io::stderr()).colour)
        .with_target(false)
        .without_time()
        .init();
    match act(options.command) {
        Ok(code) => code,
        Err(failure) => {
            output::note(failure);
            ExitCode::from(3)
        }
    }
}

fn act(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Run(asked) => run::run(&asked),
        Command::Draft(asked) => draft::draft(&asked),
        Command::Lint(asked) => lint::lint(&asked),
        Command::Review(asked) => review::review(&asked),
        Command::Explain(asked) => review::explain(&asked),
        Command::Approve(asked) => approve::approve(&asked),
        Command::Reject(asked) => reject::reject(&asked),
        Command::Gate(asked) => gate::gate(&asked),
        Command::Verify(asked) => verify::verify(&asked),
        Command::Replay(asked) => replay::replay(&asked),
        Command::Promote(asked) => promote::promote(&asked),
        Command::List(asked) => queue::list(&asked),
        Command::Status(asked) => queue::status(&asked),
        Command::Show(asked) => queue::show(&asked),
        Command::Wait(asked) => queue::wait(&asked),
        Command::Watch(asked) => queue::watch(&asked),
        Command::Hold(asked) => order::order(&asked, Order::Hold),
        Command::Release(asked) => order::order(&asked, Order::Release),
        Command::Cancel(asked) => order::order(&asked, Order::Cancel),
        Command::Log(asked) => log::log(&asked),
        Command::Keys(asked) => keys::keys(&asked),
        Command::Permission(asked) => permission::permission(&asked),
        Command::Policy(asked) => policy::policy(&asked),
        Command::Ais(asked) => ais::ais(&asked.act),
        Command::Doctor(asked) => doctor::doctor(&asked),
        Command::Gc(asked) => gc::gc(&asked),
        Command::Mcp(asked) => mcp::mcp(&asked),
        Command::Completions(asked) => manual::completions(&asked, &mut Options::command()),
        Command::Man(asked) => manual::man(&asked, Options::command()),
    }
}
