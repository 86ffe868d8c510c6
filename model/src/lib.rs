//! The domain types that every crate shares: digests, identifiers, times, source positions and the
//! characters that mislead a reader. The launcher links this crate. It must therefore never gain a
//! parser, a dependency beyond `sha2`, or any I/O, clock or random number.

#![forbid(unsafe_code)]

mod digest;
mod id;
mod span;
mod text;
mod time;

pub use digest::{NotASha256, Sha256, Sha256Stream};
pub use id::{ClaimId, NotAnId, RequestId, ResultId, SLUG_MAX};
pub use span::{Line, Placed, SourceSpan, each_line, lines};
pub use text::{
    DeceptiveChar, EMOJI_STYLE, deceptive, escape_line, has_deceptive, has_invisible, is_deceptive,
    quote,
};
pub use time::{NotATime, UtcTime};
