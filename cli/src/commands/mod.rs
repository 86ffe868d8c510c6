//! The commands: one folder per group of `toolexec --help`, one file or folder per command.

mod agent;
pub(crate) mod approve;
mod authorization;
mod env;
mod fleet;
mod groups;
mod host;
pub(crate) mod inspect;
pub(crate) mod records;
pub(crate) mod request;
pub(crate) mod run;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use spool::OperatorOrder;

use crate::commands::agent::hook::{self, HookCommand};
use crate::commands::agent::setup::{self, SetupCommand};
use crate::commands::approve::approve::ApproveCommand;
use crate::commands::approve::explain::{self, ExplainCommand};
use crate::commands::approve::reject::{self, RejectCommand};
use crate::commands::approve::review::{self, ReviewCommand};
use crate::commands::approve::standing::{self, StandingCommand};
use crate::commands::authorization::ais;
use crate::commands::authorization::gate::{self, GateCommand};
use crate::commands::authorization::permission::{self, PermissionCommand};
use crate::commands::authorization::policy::{self, PolicyCommand};
use crate::commands::env::EnvironmentCommand;
use crate::commands::fleet::FleetGroupCommand;
use crate::commands::host::doctor::{self, DoctorCommand};
use crate::commands::host::gc::{self, GcCommand};
use crate::commands::host::keys::{self, KeysCommand};
use crate::commands::host::{completions, man};
use crate::commands::records::log;
use crate::commands::records::replay::{self, ReplayCommand};
use crate::commands::records::verify::{self, VerifyCommand};
use crate::commands::request::draft::{self, DraftCommand};
use crate::commands::request::lint::{self, LintCommand};
use crate::commands::run::exec::ExecCommand;
use crate::commands::run::order::{self, OrderOptions};
use crate::commands::run::run::RunCommand;
use crate::commands::run::submit::{self, SubmitCommand};
use crate::failure::Failure;
use crate::mcp::McpCommand;
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
    pub(crate) command: CliCommand,
}

#[derive(Subcommand)]
pub(crate) enum CliCommand {
    /// Run one command now: show it, ask, and record the run
    Exec(ExecCommand),
    /// Run an approved request now, without a daemon
    Run(RunCommand),
    /// Create a request from arguments and hash its inputs, for later approval
    Draft(DraftCommand),
    /// Check requests and results against every rule of their schema
    Lint(LintCommand),
    /// Show what a request would run and the result of every rule
    Review(ReviewCommand),
    /// Print the decision of `review` without input texts
    Explain(ExplainCommand),
    /// Show a request, ask, and sign it as an approver
    Approve(ApproveCommand),
    /// Sign a rejection, which is final
    Reject(RejectCommand),
    /// Draft, list, show and revoke standing approvals
    Standing(StandingCommand),
    /// Check whether an agent may call a tool, with the AANA gate
    Gate(GateCommand),
    /// Verify results: signatures, digests, statement, log, approvals
    Verify(VerifyCommand),
    /// Repeat the run of a record and compare its outputs
    Replay(ReplayCommand),
    /// Submit an approved request with its inputs and signatures
    Submit(SubmitCommand),
    /// List queued requests, requests in flight and results
    List(inspect::list::ListCommand),
    /// Show daemon and queue status
    Status(inspect::status::StatusCommand),
    /// Show the state of a request and the statements of its records
    Show(inspect::show::ShowCommand),
    /// Wait until requests have their records
    Wait(inspect::wait::WaitCommand),
    /// Watch a spool as it changes
    Watch(inspect::watch::WatchCommand),
    /// Post to a webhook when something waits or ends
    Notify(inspect::notify::NotifyCommand),
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
    Log(records::log::LogCommand),
    /// Build, list, verify and copy environments: programs and libraries by digest
    Env(EnvironmentCommand),
    /// Set up and show several hosts that share their requests through a database
    Fleet(FleetGroupCommand),
    /// Create, print and rotate the keys that sign records and the log
    Keys(KeysCommand),
    /// Query, request, grant and revoke agent permissions
    Permission(PermissionCommand),
    /// Check and print policies
    Policy(PolicyCommand),
    /// Create, sign and check the artifacts that bind a run to a user's intent
    Ais(authorization::ais::AisCommand),
    /// Check host requirements, and build runtime caches
    Doctor(DoctorCommand),
    /// Delete expired results and requests
    Gc(GcCommand),
    /// Let an agent draft, lint and query requests over the Model Context Protocol
    Mcp(McpCommand),
    /// Add the MCP server to the configuration of a coding agent, or remove it
    Setup(SetupCommand),
    /// Answer a coding agent that is about to run a command in its own shell
    Hook(HookCommand),
    /// Print shell completions
    Completions(host::completions::CompletionsCommand),
    /// Print manual pages
    Man(host::man::ManCommand),
}

impl CliCommand {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        match self {
            Self::Exec(args) => run::exec::exec(&args),
            Self::Run(args) => run::run::run(&args),
            Self::Draft(args) => draft::draft(&args),
            Self::Lint(args) => lint::lint(&args),
            Self::Review(args) => review::review(&args),
            Self::Explain(args) => explain::explain(&args),
            Self::Approve(args) => approve::approve::approve(&args),
            Self::Reject(args) => reject::reject(&args),
            Self::Standing(args) => standing::standing(&args),
            Self::Gate(args) => gate::gate(&args),
            Self::Verify(args) => verify::verify(&args),
            Self::Replay(args) => replay::replay(&args),
            Self::Submit(args) => submit::submit(&args),
            Self::List(args) => inspect::list::list(&args),
            Self::Status(args) => inspect::status::status(&args),
            Self::Show(args) => inspect::show::show(&args),
            Self::Wait(args) => inspect::wait::wait(&args),
            Self::Watch(args) => inspect::watch::watch(&args),
            Self::Notify(args) => inspect::notify::notify(&args),
            Self::Hold(args) => order::order(&args, OperatorOrder::Hold),
            Self::Release(args) => order::order(&args, OperatorOrder::Release),
            Self::Cancel(args) => order::order(&args, OperatorOrder::Cancel),
            Self::Log(args) => log::log(&args),
            Self::Env(args) => env::env(&args),
            Self::Fleet(args) => fleet::fleet(&args),
            Self::Keys(args) => keys::keys(&args),
            Self::Permission(args) => permission::permission(&args),
            Self::Policy(args) => policy::policy(&args),
            Self::Ais(args) => ais::ais(&args.subcommand),
            Self::Doctor(args) => doctor::doctor(&args),
            Self::Gc(args) => gc::gc(&args),
            Self::Mcp(args) => mcp::mcp(&args),
            Self::Setup(args) => setup::setup(&args),
            Self::Hook(args) => Ok(hook::hook(&args)),
            Self::Completions(args) => completions::completions(&args, &mut Options::command()),
            Self::Man(args) => man::man(&args, Options::command()),
        }
    }
}

impl Options {
    /// Parses the arguments. Otherwise prints help or a usage error, and returns the exit status.
    pub(crate) fn from_arguments() -> Result<Self, ExitCode> {
        let parsed = groups::grouped(Self::command()).try_get_matches();
        parsed.and_then(|matches| Self::from_arg_matches(&matches)).map_err(|error| {
            if !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
                // If stderr is closed, the exit status is the only report.
                error.print().unwrap_or_default();
                return ExitCode::from(3);
            }
            match output::ignore_broken_pipe(error.print()) {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => {
                    output::note(failure);
                    ExitCode::from(3)
                }
            }
        })
    }
}
