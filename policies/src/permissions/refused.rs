//! Why an operation changed nothing, in words that name the object first.

use std::fmt;

use model::UtcTime;

use super::ask::AskId;
use super::finding::Finding;
use super::grant::GrantId;
use super::name::{Source, ToolName};

/// An operation that was not done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
    /// No such question is open here: it was never lodged, or was answered or withdrawn.
    NotOpen(AskId),
    /// The time for an answer is over.
    Expired(AskId),
    /// The answer names other bytes than the question has.
    OtherBytes(AskId),
    /// The answer is for somebody else than the question.
    OtherSource(AskId),
    /// The answer names a tool that was not asked for.
    NeverAsked(AskId, ToolName),
    /// A grant that would be over before it begins.
    OverAlready(ToolName, UtcTime),
    /// `as_requested` of a tool that was asked for without any input: it would allow nothing.
    NoInputs(ToolName),
    /// A call that is not permitted now.
    Blocked(ToolName, Finding),
    /// Nothing is asked.
    NothingAsked,
    /// All that is asked about is permitted, so nobody need be asked.
    AllApproved,
    /// Nothing of the kind is there to take back.
    NothingThere(ToolName),
    /// No such grant.
    NoGrant(GrantId),
    /// The bounds of what is kept.
    Full(&'static str),
    /// An entry that cannot follow the ones before it; nothing may be built on it.
    Inconsistent {
        /// Its number.
        entry: u64,
        /// What is wrong.
        why: &'static str,
    },
    /// Nothing is kept of this source.
    Nobody(Source),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpen(id) => write!(
                f,
                "{id}: is not open here: it was never lodged, or was answered, revoked or cleaned \
                 up; ask again"
            ),
            Self::Expired(id) => write!(f, "{id}: its time for an answer is over; ask again"),
            Self::OtherBytes(id) => {
                write!(f, "{id}: the answer names another sha256 than the request that was lodged")
            }
            Self::OtherSource(id) => {
                write!(f, "{id}: the answer is for another agent, subject or access control")
            }
            Self::NeverAsked(id, tool) => {
                write!(f, "{id}: {tool} was not asked for; answer what was asked")
            }
            Self::OverAlready(tool, end) => {
                write!(f, "{tool}: the grant expires {end}, which is over")
            }
            Self::NoInputs(tool) => {
                write!(f, "{tool}: was asked for without inputs, so `as_requested` allows nothing")
            }
            Self::Blocked(tool, found) => write!(f, "{tool}: {} ({found})", found.state()),
            Self::NothingAsked => f.write_str("no tool is asked about; name one"),
            Self::AllApproved => f.write_str("all of it is APPROVED; nobody need be asked"),
            Self::NothingThere(tool) => write!(f, "{tool}: there is nothing to take back"),
            Self::NoGrant(id) => write!(f, "{id}: is no grant that stands"),
            Self::Full(what) => write!(f, "permissions: {what}; clean up what has ended"),
            Self::Inconsistent { entry, why } => write!(f, "entry {entry}: {why}"),
            Self::Nobody(source) => write!(f, "{source}: nothing is kept"),
        }
    }
}

impl std::error::Error for Refused {}
