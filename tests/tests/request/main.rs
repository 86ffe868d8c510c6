//! Writing, linting and explaining requests, at a shell and through MCP.

mod bad_input;
mod diagnostics;
mod draft;
mod lint;
mod mcp;
mod sarif;
mod scripting;
mod writing_requests;
