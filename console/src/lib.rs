//! The program `toolexec-console`. `routes` has the address of each page; `pages` makes them from
//! the spool as it is now; `prepare` says what would be signed, and `deliver` hands a signed action
//! to the daemon; `guard` decides which requests of browsers are answered at all.
//!
//! Text of drafters and of tools must never become markup, and a page must never need a file from
//! elsewhere. Nothing here may decide whether a signature counts: the daemon does.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod answer_memory;
mod answer_stream;
mod answer_time;
mod asset_route;
mod assets;
mod beneath;
mod channel_body;
mod confine;
mod connections;
mod deliver;
mod documents;
mod event_stream;
mod frame;
mod guard;
mod headers;
mod idle_stream;
mod json_api;
mod listener;
mod live_output;
mod options;
mod origin;
mod page_error;
mod pages;
mod passkeys;
mod pictures;
mod prepare;
mod program;
mod queue;
mod queue_changes;
mod result_files;
mod routes;
mod state;
mod syscalls;
mod text;
mod tls;
mod trust_files;

pub use program::run;
