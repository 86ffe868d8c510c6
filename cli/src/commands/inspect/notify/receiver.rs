//! One POST to the receiver. It follows no redirect, reads no body of an answer, and trusts the
//! host's certificate authorities. No message has the address.

use std::time::Duration;

use model::UtcTime;
use ureq::{Agent, Error};

use super::address::ReceiverAddress;
use super::message::EventMessage;
use super::retry::PostOutcome;
use crate::failure::Failure;
use crate::tls::host_authorities;

/// A receiver answers at once. Until its answer, the spool is not looked at.
const WAIT_SEC_MAX: u64 = 10;
const ANSWER_HEAD_BYTES_MAX: usize = 16 * 1024;

pub(super) struct EventReceiver {
    agent: Agent,
    address: ReceiverAddress,
}

impl EventReceiver {
    /// Reads the host's certificate authorities and the proxy of the environment.
    pub(super) fn new(address: ReceiverAddress) -> Result<Self, Failure> {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(0)
            .max_response_header_size(ANSWER_HEAD_BYTES_MAX)
            .user_agent(concat!("toolexec/", env!("CARGO_PKG_VERSION")))
            .timeout_global(Some(Duration::from_secs(WAIT_SEC_MAX)));
        if address.is_encrypted() {
            config = config.tls_config(host_authorities("notify")?);
        }
        if address.is_loopback() {
            config = config.proxy(None);
        }
        Ok(Self { agent: config.build().new_agent(), address })
    }

    pub(super) fn post(&self, message: &EventMessage, now: UtcTime) -> PostOutcome {
        let mut request = self.agent.post(self.address.secret()).content_type(message.content_type);
        for (name, value) in &message.headers {
            request = request.header(*name, value.as_str());
        }
        match request.send(message.body.as_str()) {
            Ok(answer) => {
                let after = answer.headers().get("retry-after");
                let after = after.and_then(|value| value.to_str().ok());
                PostOutcome::of_answer(answer.status().as_u16(), after, now)
            }
            Err(error) => PostOutcome::Failed { reason: reason(&error), retry_after: None },
        }
    }
}

/// Describes an error. Its own text may have the address.
fn reason(error: &Error) -> String {
    match error {
        Error::Timeout(_) => format!("has not answered within {WAIT_SEC_MAX} s"),
        Error::HostNotFound => "has a host name that is not found".to_owned(),
        Error::Io(error) => format!("cannot be reached: {}", error.kind()),
        Error::ConnectionFailed => "cannot be reached".to_owned(),
        _ => "gives no valid answer, or has a certificate that is not trusted".to_owned(),
    }
}
