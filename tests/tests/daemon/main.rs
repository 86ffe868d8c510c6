//! The daemon and its spool: claims, crashes, full disks, load, orders, status.

mod claiming;
mod clock;
mod crash;
mod daemon;
mod daemon_end;
mod full_disk;
mod injected;
mod key_change;
mod ledger;
mod load;
mod log_of_runs;
mod notifying;
mod orders;
mod power_cut;
mod prewarmed_sandboxes;
mod reasons;
mod recovery;
mod replay;
mod retention;
mod scheduling;
mod side_by_side;
mod standing_uses;
mod standing_waiting;
mod status_commands;
mod stuck;
mod watching;
