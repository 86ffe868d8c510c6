//! A sandbox that a launcher was asked for, until it is built.

use std::os::fd::OwnedFd;
use std::time::Duration;

use super::error::{BuildError, lost};
use super::prepared::PreparedCell;
use super::start::{Peer, StartLimit};
use crate::messages::{Evidence, FromLauncher};
use crate::plan::Network;
use crate::report::{Confinement, Mark};
use crate::wire;

/// A cell that is being built, or is waiting already.
#[must_use = "a cell that nobody waits for is ended when it is dropped"]
pub struct AskedCell {
    pub(super) peer: Peer,
    pub(super) control: OwnedFd,
    pub(super) evidence: OwnedFd,
    pub(super) network: Network,
}

impl AskedCell {
    /// Waits until it is built.
    ///
    /// # Errors
    /// [`BuildError`], and then nothing has run; with what is known of the other side.
    pub(super) fn prepared(
        mut self,
        limit: &mut StartLimit<'_>,
    ) -> Result<PreparedCell, (BuildError, Peer)> {
        match self.wait(limit) {
            Ok((confinement, marks, [stdout, stderr], proxy)) => {
                let Self { peer, control, evidence, .. } = self;
                Ok(PreparedCell {
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

    /// Waits until it is built, within a bound of the caller's.
    ///
    /// # Errors
    /// [`BuildError`], and then nothing has run; what is left is stuck in the kernel, and is named.
    pub fn prepared_within(self, limit: &mut StartLimit<'_>) -> Result<PreparedCell, BuildError> {
        self.prepared(limit).map_err(|(error, _)| error)
    }

    fn wait(&mut self, limit: &mut StartLimit<'_>) -> Result<Built, BuildError> {
        let Self { peer, control, evidence, network } = self;
        let heard = limit.hear(control, peer, evidence, "prepare the sandbox")?;
        let (confinement, marks, mut fds) = match heard {
            Some((FromLauncher::Prepared(confinement, marks), fds)) => (*confinement, marks, fds),
            Some((FromLauncher::Unable(unable), _)) => return Err(BuildError::Unable(unable)),
            Some(_) => return Err(lost("it spoke out of turn")),
            None => return Err(peer.closed()),
        };
        let proxy = fds.pop();
        if !fds.is_empty() || proxy.is_some() != (*network == Network::Proxy) {
            return Err(lost("the cell has another network than was asked for"));
        }
        peer.look(evidence);
        // They were sent before it was said that the cell is prepared.
        let streams = match wire::wait_to_receive(&*evidence, Duration::ZERO) {
            Ok(true) => wire::receive(&*evidence).map_err(BuildError::Lost)?,
            Ok(false) => None,
            Err(error) => return Err(BuildError::Lost(error)),
        };
        let Some((bytes, fds)) = streams else {
            return Err(lost("the cell sent no streams"));
        };
        let (Ok(Evidence::Streams), Ok(streams)) =
            (Evidence::decode(&bytes), <[OwnedFd; 2]>::try_from(fds))
        else {
            return Err(lost("the cell sent no streams"));
        };
        Ok((confinement, marks, streams, proxy))
    }
}

/// What is known of a cell once it is built: its confinement, the times of its steps, the streams and the
/// socket of its proxy.
type Built = (Confinement, Vec<Mark>, [OwnedFd; 2], Option<OwnedFd>);
