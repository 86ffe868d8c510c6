//! Writing, linting and explaining requests, at a shell and through MCP, and the set-up of coding
//! agents.

mod agent_hooks;
mod bad_input;
mod diagnostics;
mod draft;
mod fleet_commands;
mod hook;
mod lint;
mod mcp;
mod sarif;
mod scripting;
mod setup;
mod writing_requests;
