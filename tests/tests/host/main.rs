//! One run in a sandbox, and hosts that lack something.

mod backends;
mod broken_host;
mod confined;
mod doctor;
mod environments;
mod escape_trial;
mod exec;
mod hostile;
mod languages;
mod memory_files;
mod names;
mod network;
mod run;
mod shared_user;
mod unfit_host;
