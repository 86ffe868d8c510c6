//! Tests of the checks of requests and results.

mod any_bytes;
mod bash;
mod command;
mod compose;
mod composed;
mod folders;
mod forbidden;
mod hostile;
mod json_schema;
mod monty;
mod page;
mod patches;
mod request;
mod result;
mod result_content;
mod rules;
mod secrets;
#[path = "../../tests/src/skip.rs"]
mod skip;
mod support;
mod values;
