//! Domain types that the crates share: digests, ids, times, source positions, closed sets, and the
//! lists of deceptive characters and of reserved variables. A type belongs here if several crates
//! share it. The launcher links this crate, so it must never gain a parser, a dependency beyond
//! `sha2`, I/O, a clock or random numbers. It depends on no other crate here; its modules import
//! only downwards.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod closed_set;
mod digest;
mod environment;
mod host_audience;
mod host_name;
mod id;
mod language;
mod layer;
mod outcome;
mod section;
mod span;
mod text;
mod time;
mod variable;
mod words;

pub use closed_set::{ClosedSet, NotInSet};
pub use digest::{NotASha256, Sha256, Sha256Stream};
pub use environment::{
    EnvironmentName, EnvironmentReference, NotAnEnvironmentName, NotAnEnvironmentReference,
};
pub use host_audience::HostAudience;
pub use host_name::is_host_name;
pub use id::{ClaimId, NotAnId, RequestId, ResultId, SLUG_MAX, StandingId, StandingReference};
pub use language::{Language, RuntimeFacts};
pub use layer::{LauncherMode, Layer, LimitName, Mechanism, RejectReason};
pub use outcome::Outcome;
pub use section::ResultSection;
pub use span::{SourceSpan, TextLine, WithSpan, each_line, lines};
pub use text::{
    DeceptiveChar, EMOJI_STYLE, alternatives, deceptive_kind, escape_line, has_deceptive,
    has_invisible, is_deceptive, quote,
};
pub use time::{NotATime, UtcTime};
pub use variable::is_reserved_variable;
pub use words::digest_words;
