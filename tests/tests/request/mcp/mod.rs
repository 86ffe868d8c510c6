//! The agents' door as an agent finds it: `toolexec mcp`, driven by the official Python client of the
//! protocol. What it does, what it refuses, what it opens, and one whole story from a draft to a record
//! that verifies.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod agent;
mod confined;
mod drafting;
mod reading;
mod story;
