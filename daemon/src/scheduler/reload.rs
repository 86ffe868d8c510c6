//! Reload: all rules are replaced or none, and the log states the reason of a refusal. A request
//! that is not started is decided again; a run keeps its rules. New keys for records and the log
//! are taken over first; a key that cannot be used refuses the reload.

use crate::config::Config;
use crate::model::DaemonError;

use super::loop_state::EventLoop;
use crate::log_event::{self, LogEvent, LogEventFields};

impl EventLoop<'_, '_> {
    pub(super) fn reload(&mut self) -> Result<(), DaemonError> {
        self.publisher.reloading();
        let reloaded = self.read_again();
        // Also after a refusal, the service manager waits for the end of the reload.
        self.publisher.ready();
        reloaded
    }

    fn read_again(&mut self) -> Result<(), DaemonError> {
        let config = match Config::read(&self.config_path) {
            Ok(config) => config,
            Err(error) => return refused(&error.to_string()),
        };
        if let Some(moved) = self.host.moved_directory(&config) {
            let why = format!("{}: a reload cannot change this path", moved.display());
            return refused(&format!("{why}; help: restart the daemon"));
        }
        if self.host.has_other_fleet(&config) {
            let why = "fleet: a reload cannot change this key or the labels of this host";
            return refused(&format!("{why}; help: restart the daemon"));
        }
        if let Err(why) = self.host.take_over_keys(&config.keys)? {
            return refused(&why);
        }
        let (name, sha256) = (config.policy.name().to_owned(), config.policy.sha256());
        let keep = config.retention;
        if let Err(why) = self.host.replace_config(config)? {
            return refused(&why);
        }
        self.release_unstarted();
        self.loop_config.retention = keep;
        let policy = format!("policy {name} {sha256}");
        let fields = LogEventFields { reason: Some(&policy), ..LogEventFields::default() };
        log_event::log(LogEvent::Reloaded, &fields);
        Ok(())
    }
}

fn refused(why: &str) -> Result<(), DaemonError> {
    let reason = format!("the previous rules stay in use: {why}");
    let fields = LogEventFields { reason: Some(&reason), ..LogEventFields::default() };
    log_event::log(LogEvent::ReloadRefused, &fields);
    Ok(())
}
