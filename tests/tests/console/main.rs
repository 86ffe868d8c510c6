//! The console: its pages in a browser with a passkey, its socket and its directory under attack.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod approver;
mod attacks;
mod batch;
mod confined;
mod console_process;
mod exchange;
mod figures;
mod forwarded_port;
mod live;
mod orders;
mod owned;
mod pages;
mod pictured;
mod posts;
mod proxies;
mod response_headers;
mod scene;
mod signing;
mod slow_answers;
mod slow_clients;
mod standing_signing;
mod standing_uses;
mod transports;
