//! Options for an agent and its workflow.

use clap::Args;
use policies::permissions::{AccessControl, AgentName, PermissionSource, Subject};

use crate::failure::Failure;

/// An agent and its workflow.
#[derive(Args, Clone)]
pub(crate) struct SourceOptions {
    /// Name the agent
    #[arg(long, value_name = "NAME", requires = "subject")]
    pub(crate) agent: Option<AgentName>,
    /// Name the agent's workflow execution
    #[arg(long, value_name = "NAME", requires = "agent")]
    pub(crate) subject: Option<Subject>,
    /// Name the agent's access-control scope [default: none, which is a distinct scope]
    #[arg(long, value_name = "SCOPE", requires = "agent")]
    pub(crate) accesscontrol: Option<AccessControl>,
}

impl SourceOptions {
    pub(crate) fn source(&self) -> Option<PermissionSource> {
        let (name, subject): (_, Subject) = (self.agent.clone()?, self.subject.clone()?);
        Some(PermissionSource { name, subject, accesscontrol: self.accesscontrol.clone() })
    }

    /// Returns the source, or an error if the options are missing.
    pub(crate) fn required(&self) -> Result<PermissionSource, Failure> {
        self.source().ok_or_else(|| {
            let why = "--agent, --subject: missing; help: name the agent and its workflow";
            Failure::Message(why.into())
        })
    }
}
