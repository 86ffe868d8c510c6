//! Reading the rules again: all of them are put in force at once, or the old ones stay in force and the
//! reason is told. Requests that are on their way keep the rules under which they began.

use crate::config::Config;
use crate::host::Halt;
use crate::host_keys::open_keys;

use super::AtWork;
use crate::transition::{self, Fields, Transition};

impl AtWork<'_, '_> {
    pub(super) fn reload(&mut self) -> Result<(), Halt> {
        self.said.reloading();
        let reloaded = self.read_again();
        // Also where nothing changed: it is over.
        self.said.ready();
        reloaded
    }

    fn read_again(&mut self) -> Result<(), Halt> {
        let config = match Config::read(&self.config) {
            Ok(config) => config,
            Err(error) => return refused(&error.to_string()),
        };
        let key = match open_keys(&config.keys, config.log_origin.as_ref()) {
            Ok(keys) => keys.result,
            Err(error) => return refused(&error.to_string()),
        };
        let (name, sha256) = (config.policy.name().to_owned(), config.policy.sha256());
        let keep = config.keep;
        self.host.take_over(config, key)?;
        self.pace.keep = keep;
        let policy = format!("policy {name} {sha256}");
        let fields = Fields { reason: Some(&policy), ..Fields::default() };
        transition::log(Transition::Reloaded, &fields);
        Ok(())
    }
}

fn refused(why: &str) -> Result<(), Halt> {
    let reason = format!("{why}; the rules stay as they are");
    let fields = Fields { reason: Some(&reason), ..Fields::default() };
    transition::log(Transition::ReloadRefused, &fields);
    Ok(())
}
