//! A sandbox that was requested from a launcher and is not built yet.

use std::os::fd::OwnedFd;
use std::time::Duration;

use super::error::{BuildError, lost};
use super::prepared::PreparedSandbox;
use super::start::{Peer, StartLimit};
use crate::messages::{EvidenceMessage, FromLauncher};
use crate::plan::SandboxNetwork;
use crate::report::{Confinement, Mark};
use crate::wire;

/// A sandbox that the launcher is building or has already built.
#[must_use = "dropping a pending sandbox ends it"]
pub struct PendingSandbox {
    pub(super) peer: Peer,
    pub(super) control: OwnedFd,
    pub(super) evidence: OwnedFd,
    pub(super) network: SandboxNetwork,
}

impl PendingSandbox {
    /// Waits until it is built.
    ///
    /// # Errors
    /// [`BuildError`]; nothing has run. The [`Peer`] holds what is known of the launcher.
    pub(super) fn prepared(
        mut self,
        limit: &mut StartLimit<'_>,
    ) -> Result<PreparedSandbox, (BuildError, Peer)> {
        match self.wait(limit) {
            Ok((confinement, marks, [stdout, stderr], proxy)) => {
                let Self { peer, control, evidence, .. } = self;
                Ok(PreparedSandbox {
                    peer,
                    control,
                    evidence,
                    stdout,
                    stderr,
                    proxy,
                    confinement,
                    marks,
                })
            }
            Err(error) => Err((error, self.peer)),
        }
    }

    /// Waits until it is built, within the caller's limit.
    ///
    /// # Errors
    /// [`BuildError`]; nothing has run. The error names processes that remain stuck in the kernel.
    pub fn prepared_within(
        self,
        limit: &mut StartLimit<'_>,
    ) -> Result<PreparedSandbox, BuildError> {
        self.prepared(limit).map_err(|(error, _)| error)
    }

    fn wait(&mut self, limit: &mut StartLimit<'_>) -> Result<BuiltParts, BuildError> {
        let Self { peer, control, evidence, network } = self;
        let heard = limit.receive(control, peer, evidence, "prepare the sandbox")?;
        let (confinement, marks, mut fds) = match heard {
            Some((FromLauncher::Prepared(confinement, marks), fds)) => (*confinement, marks, fds),
            Some((FromLauncher::SetupFailed(unable), _)) => {
                return Err(BuildError::SetupFailed(unable));
            }
            Some(_) => return Err(lost("it sent an unexpected message")),
            None => return Err(peer.closed()),
        };
        let proxy = fds.pop();
        if !fds.is_empty() || proxy.is_some() != (*network == SandboxNetwork::Proxy) {
            return Err(lost("it built a sandbox with the wrong network"));
        }
        peer.update(evidence);
        // Init sends the streams before the launcher reports that the sandbox is prepared.
        let streams = match wire::wait_to_receive(&*evidence, Duration::ZERO) {
            Ok(true) => wire::receive(&*evidence).map_err(BuildError::Lost)?,
            Ok(false) => None,
            Err(error) => return Err(BuildError::Lost(error)),
        };
        let Some((bytes, fds)) = streams else {
            return Err(lost("the sandbox sent no output pipes"));
        };
        let (Ok(EvidenceMessage::Streams), Ok(streams)) =
            (EvidenceMessage::decode(&bytes), <[OwnedFd; 2]>::try_from(fds))
        else {
            return Err(lost("the sandbox sent no output pipes"));
        };
        Ok((confinement, marks, streams, proxy))
    }
}

/// The parts of a built sandbox: confinement, times of its steps, streams and the proxy's socket.
type BuiltParts = (Confinement, Vec<Mark>, [OwnedFd; 2], Option<OwnedFd>);
