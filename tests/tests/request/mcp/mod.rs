//! `toolexec mcp`, driven by the official Python client of the protocol: its functions, its
//! refusals, the files that it opens, and a complete sequence up to a verified record.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod agent;
mod commands;
mod confined;
mod conformance;
mod drafting;
mod end_to_end;
mod http;
mod older_tasks;
mod progress;
mod raw_client;
mod reading;
mod task_notifications;
mod tasks;
