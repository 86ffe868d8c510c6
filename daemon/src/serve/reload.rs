//! Reading the rules again: all of them are put in force at once, or the old ones stay in force and the
//! reason is told. Requests that are on their way keep the rules under which they began.

use crate::config::Config;
use crate::host::Halt;
use crate::host_keys::open_keys;

use super::AtWork;

impl AtWork<'_, '_> {
    pub(super) fn reload(&mut self) -> Result<(), Halt> {
        let config = match Config::read(&self.config) {
            Ok(config) => config,
            Err(error) => {
                tracing::error!("{error}; the rules stay as they are");
                return Ok(());
            }
        };
        let key = match open_keys(&config.keys, config.log_origin.as_ref()) {
            Ok(keys) => keys.result,
            Err(error) => {
                tracing::error!("{error}; the rules stay as they are");
                return Ok(());
            }
        };
        let (name, sha256) = (config.policy.name().to_owned(), config.policy.sha256());
        let keep = config.keep;
        self.host.take_over(config, key)?;
        self.pace.keep = keep;
        tracing::info!(policy = %name, %sha256, "the rules were read again");
        Ok(())
    }
}
