//! The arguments of commands: parser and help come from one definition.

mod mcp;

pub(crate) use mcp::Mcp;
