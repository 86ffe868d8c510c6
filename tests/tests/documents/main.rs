//! The documents: each command in them runs, and the package has the files that they name.

mod deployment;
mod documents;
mod environments;
mod operators;
mod package_scripts;
mod page_commands;
mod pages;
mod readme;
mod recording;
mod releasing;
mod tutorial_audit;
mod tutorial_chart;
mod tutorial_pull_request;
mod verifying;
