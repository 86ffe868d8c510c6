//! The commands: one folder per group of `toolexec --help`, one file or folder per command, with
//! its arguments.

pub(crate) mod approve;
mod authority;
mod groups;
mod host;
pub(crate) mod look;
pub(crate) mod records;
pub(crate) mod request;
pub(crate) mod run;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use spool::Order;

use crate::commands::approve::approve::Approve;
use crate::commands::approve::explain::{self, Explain};
use crate::commands::approve::reject::{self, Reject};
use crate::commands::approve::review::{self, Review};
use crate::commands::authority::ais;
use crate::commands::authority::gate::{self, Gate};
use crate::commands::authority::permission::{self, Permission};
use crate::commands::authority::policy::{self, Policy};
use crate::commands::host::doctor::{self, Doctor};
use crate::commands::host::gc::{self, Gc};
use crate::commands::host::keys::{self, Keys};
use crate::commands::host::{completions, man};
use crate::commands::records::log;
use crate::commands::records::replay::{self, Replay};
use crate::commands::records::verify::{self, Verify};
use crate::commands::request::draft::{self, Draft};
use crate::commands::request::lint::{self, Lint};
use crate::commands::run::order::{self, OrderOptions};
use crate::commands::run::promote::{self, Promote};
use crate::commands::run::run::Run;
use crate::failure::Failure;
use crate::mcp::Mcp;
use crate::{mcp, output};

/// Run human-approved tool requests in a sandbox and verify the signed records.
#[derive(Parser)]
#[command(
    name = "toolexec",
    version,
    after_help = groups::EXAMPLES
)]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run an approved request now, without a daemon
    Run(Run),
    /// Create a request from arguments and hash its inputs, for later approval
    Draft(Draft),
    /// Check requests and results against every rule of their schema
    Lint(Lint),
    /// Show what a request would run and the result of every rule
    Review(Review),
    /// Print the decision of `review` without input texts
    Explain(Explain),
    /// Show a request, ask, and sign it as an approver
    Approve(Approve),
    /// Sign a rejection, which is final
    Reject(Reject),
    /// Check whether an agent may call a tool, with the AANA gate
    Gate(Gate),
    /// Verify results: signatures, digests, statement, log, approvals
    Verify(Verify),
    /// Repeat the run of a record and compare its outputs
    Replay(Replay),
    /// Submit an approved request with its inputs and signatures
    Promote(Promote),
    /// List queued requests, requests in flight and results
    List(look::list::List),
    /// Show daemon and queue status
    Status(look::status::Status),
    /// Show the state of a request and the statements of its records
    Show(look::show::Show),
    /// Wait until requests have their records
    Wait(look::wait::Wait),
    /// Watch a spool as it changes
    Watch(look::watch::Watch),
    /// Hold a queued request until it is released
    #[command(after_help = run::order::HOLD_HELP)]
    Hold(OrderOptions),
    /// Release a held request
    #[command(after_help = run::order::RELEASE_HELP)]
    Release(OrderOptions),
    /// Cancel a request: refuse it if it is queued, end it if it is running
    #[command(after_help = run::order::CANCEL_HELP)]
    Cancel(OrderOptions),
    /// Show, prove, check and copy the transparency log
    Log(records::log::Log),
    /// Create, print and rotate the keys that sign records and the log
    Keys(Keys),
    /// Query, request, grant and revoke agent permissions
    Permission(Permission),
    /// Check and print policies
    Policy(Policy),
    /// Create, sign and check the artifacts that bind a run to a user's intent
    Ais(authority::ais::Ais),
    /// Check host requirements, and build runtime caches
    Doctor(Doctor),
    /// Delete expired results and requests
    Gc(Gc),
    /// Let an agent draft, lint and query requests over the Model Context Protocol
    Mcp(Mcp),
    /// Print shell completions
    Completions(host::completions::Completions),
    /// Print manual pages
    Man(host::man::ManPages),
}

impl Command {
    /// Runs the command and returns the exit status.
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        match self {
            Self::Run(asked) => run::run::run(&asked),
            Self::Draft(asked) => draft::draft(&asked),
            Self::Lint(asked) => lint::lint(&asked),
            Self::Review(asked) => review::review(&asked),
            Self::Explain(asked) => explain::explain(&asked),
            Self::Approve(asked) => approve::approve::approve(&asked),
            Self::Reject(asked) => reject::reject(&asked),
            Self::Gate(asked) => gate::gate(&asked),
            Self::Verify(asked) => verify::verify(&asked),
            Self::Replay(asked) => replay::replay(&asked),
            Self::Promote(asked) => promote::promote(&asked),
            Self::List(asked) => look::list::list(&asked),
            Self::Status(asked) => look::status::status(&asked),
            Self::Show(asked) => look::show::show(&asked),
            Self::Wait(asked) => look::wait::wait(&asked),
            Self::Watch(asked) => look::watch::watch(&asked),
            Self::Hold(asked) => order::order(&asked, Order::Hold),
            Self::Release(asked) => order::order(&asked, Order::Release),
            Self::Cancel(asked) => order::order(&asked, Order::Cancel),
            Self::Log(asked) => log::log(&asked),
            Self::Keys(asked) => keys::keys(&asked),
            Self::Permission(asked) => permission::permission(&asked),
            Self::Policy(asked) => policy::policy(&asked),
            Self::Ais(asked) => ais::ais(&asked.act),
            Self::Doctor(asked) => doctor::doctor(&asked),
            Self::Gc(asked) => gc::gc(&asked),
            Self::Mcp(asked) => mcp::mcp(&asked),
            Self::Completions(asked) => completions::completions(&asked, &mut Options::command()),
            Self::Man(asked) => man::man(&asked, Options::command()),
        }
    }
}

impl Options {
    /// Parses the arguments. Otherwise prints the help or the usage error and returns the exit
    /// status.
    pub(crate) fn from_arguments() -> Result<Self, ExitCode> {
        let parsed = groups::grouped(Self::command()).try_get_matches();
        parsed.and_then(|matches| Self::from_arg_matches(&matches)).map_err(|error| {
            if !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
                // If stderr is closed, the exit status is the only report.
                error.print().unwrap_or_default();
                return ExitCode::from(3);
            }
            match output::settle(error.print()) {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => {
                    output::note(failure);
                    ExitCode::from(3)
                }
            }
        })
    }
}
