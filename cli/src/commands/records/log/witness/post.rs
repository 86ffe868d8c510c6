//! One HTTP request to a witness, with a bounded body and answer. It follows no redirect, sends
//! only the given body, and trusts the host's certificate authorities.

use std::time::Duration;

use ureq::Agent;

use crate::failure::Failure;
use crate::tls::host_authorities;

/// A correct answer has a few lines.
const ANSWER_BYTES_MAX: u64 = 32 * 1024;
const WAIT_SEC_MAX: u64 = 30;

pub(crate) struct WitnessAnswer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

pub(super) fn post(url: &str, body: &str) -> Result<WitnessAnswer, Failure> {
    let failed = |error: ureq::Error| {
        let problem = match error {
            // Its own text begins with `io: `.
            ureq::Error::Io(error) => error.to_string(),
            other => other.to_string(),
        };
        Failure::Message(format!("{url}: {problem}; help: check the address and the network"))
    };
    let mut response = agent(url)?
        .post(url)
        .content_type("text/plain; charset=utf-8")
        .send(body)
        .map_err(failed)?;
    let status = response.status().as_u16();
    let answer = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_string();
    Ok(WitnessAnswer { status, body: answer.map_err(failed)? })
}

fn agent(url: &str) -> Result<Agent, Failure> {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("toolexec/", env!("CARGO_PKG_VERSION")))
        .timeout_global(Some(Duration::from_secs(WAIT_SEC_MAX)));
    if url.starts_with("https:") {
        config = config.tls_config(host_authorities(url)?);
    }
    Ok(config.build().new_agent())
}
