//! Reload: either all rules are replaced or none, and the log states the reason of a refusal. A
//! request that is not started is decided again; a run keeps the rules under which it began. New
//! keys for records and the log are taken over first. A key that cannot be used refuses the reload.

use crate::config::Config;
use crate::model::Halt;

use super::at_work::AtWork;
use crate::transition::{self, Fields, Transition};

impl AtWork<'_, '_> {
    pub(super) fn reload(&mut self) -> Result<(), Halt> {
        self.publisher.reloading();
        let reloaded = self.read_again();
        // Ends the reload for the service manager, even if it was refused.
        self.publisher.ready();
        reloaded
    }

    fn read_again(&mut self) -> Result<(), Halt> {
        let config = match Config::read(&self.config) {
            Ok(config) => config,
            Err(error) => return refused(&error.to_string()),
        };
        if let Some(moved) = self.host.moved(&config) {
            let why = format!("{}: a reload cannot change this path", moved.display());
            return refused(&format!("{why}; help: restart the daemon"));
        }
        if let Err(why) = self.host.take_over_keys(&config.keys)? {
            return refused(&why);
        }
        let (name, sha256) = (config.policy.name().to_owned(), config.policy.sha256());
        let keep = config.keep;
        if let Err(why) = self.host.take_over(config)? {
            return refused(&why);
        }
        self.decide_anew();
        self.pace.keep = keep;
        let policy = format!("policy {name} {sha256}");
        let fields = Fields { reason: Some(&policy), ..Fields::default() };
        transition::log(Transition::Reloaded, &fields);
        Ok(())
    }
}

fn refused(why: &str) -> Result<(), Halt> {
    let reason = format!("the previous rules stay in use: {why}");
    let fields = Fields { reason: Some(&reason), ..Fields::default() };
    transition::log(Transition::ReloadRefused, &fields);
    Ok(())
}
