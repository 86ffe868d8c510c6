//! The state of a server: the open directories of its spool, and the options of its operator. It is
//! read once, before the server confines itself. Only the published policy is read at each call.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use policies::Policy;
use policies::permissions::PermissionSource;
use records::Trust;
use rustix::fs::{CWD, Mode, OFlags};
use spool::{PublishedFileError, published_policy};

use super::args::McpCommand;
use super::write_quota::WriteQuota;
use crate::args::SourceOptions;
use crate::args::files::named_directory;
use crate::args::policy::named_or_embedded;
use crate::clock;
use crate::commands::records::verify;
use crate::failure::Failure;
use crate::random::random_bytes;

pub(super) struct ServerState {
    spool: PathBuf,
    pub(super) drafts: OwnedFd,
    pub(super) results: OwnedFd,
    pub(super) public: OwnedFd,
    named_policy: Option<Arc<Policy>>,
    pub(super) trust: Option<Trust>,
    pub(super) agent: SourceOptions,
    pub(super) quota: WriteQuota,
}

/// Returns the agent that the operator named. Without a named workflow the server invents one, so
/// that a permission of an earlier server of the same agent does not apply.
fn source(args: &McpCommand) -> Result<SourceOptions, Failure> {
    let subject = match (&args.agent, &args.subject) {
        (Some(_), None) => {
            let number = u32::from_be_bytes(random_bytes()?);
            let subject = format!("mcp-{}-{number:08x}", clock::now().compact());
            Some(subject.parse().map_err(|error| {
                Failure::Message(format!("--subject: {error}; help: report this as a bug"))
            })?)
        }
        (_, named) => named.clone(),
    };
    let (agent, accesscontrol) = (args.agent.clone(), args.accesscontrol.clone());
    Ok(SourceOptions { agent, subject, accesscontrol })
}

impl ServerState {
    pub(super) fn open(args: &McpCommand) -> Result<Self, Failure> {
        let spool = named_directory("--spool", &args.spool)?;
        let open = |name| open_directory(&spool.join(name));
        let policy = args.policy.as_deref().map(|file| named_or_embedded(Some(file)));
        let log_key = args.log_key.as_deref();
        let signers = args.allowed_signers.as_deref();
        let trust = signers.map(|file| verify::named_with_log(file, log_key));
        Ok(Self {
            drafts: open("drafts")?,
            results: open("results")?,
            public: open("public")?,
            named_policy: policy.transpose()?.map(Arc::new),
            trust: trust.transpose()?,
            agent: source(args)?,
            quota: WriteQuota::default(),
            spool,
        })
    }

    pub(super) fn spool(&self) -> &Path {
        &self.spool
    }

    pub(super) fn drafts_path(&self) -> PathBuf {
        self.spool.join("drafts")
    }

    pub(super) fn result_path(&self, id: &model::ResultId) -> PathBuf {
        self.spool.join("results").join(id.as_str())
    }

    /// Returns the operator's policy, or else the policy that the daemon published, if any.
    pub(super) fn policy(&self) -> Result<Option<Arc<Policy>>, Failure> {
        if let Some(named) = &self.named_policy {
            return Ok(Some(Arc::clone(named)));
        }
        match published_policy(&self.spool) {
            Ok(policy) => Ok(Some(Arc::new(policy))),
            Err(PublishedFileError::Missing) => Ok(None),
            Err(error) => Err(Failure::Message(error.to_string())),
        }
    }

    pub(super) fn source(&self) -> Option<PermissionSource> {
        self.agent.source()
    }
}

/// Opens a directory. A symbolic link in its place could be an attack and is refused.
fn open_directory(path: &Path) -> Result<OwnedFd, Failure> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(|errno| {
        let error = std::io::Error::from(errno);
        Failure::Message(format!(
            "{}: {error}; help: use a spool with drafts/, writable for agents, and with results/ \
             and public/ of its daemon",
            path.display()
        ))
    })
}
