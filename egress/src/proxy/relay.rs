//! Copies the bytes of a tunnel in both directions, after its first ClientHello.
//!
//! Bytes of the client are held back until the host has accepted that ClientHello. If the host asks
//! for another one, it is passed on only if it names the same host: until then it is in plain text
//! and could change the host.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::sync::oneshot;

use super::counted::CountedStream;
use super::first_hello::{FIRST_BYTES_MAX, HelloError, check_hello};
use super::hello;
use super::idle_timer::IdleTimer;
use super::options::Timeouts;
use super::retry::{self, ServerHelloKind};
use super::rules::AllowedHost;

const PIECE_BYTES: usize = 32 * 1024;

/// The reason why one direction of a tunnel ends early.
pub(super) enum RelayError {
    /// A side closed the connection, or the run's bytes are used up.
    Lost,
    Refused(HelloError),
}

impl From<io::Error> for RelayError {
    fn from(_: io::Error) -> Self {
        Self::Lost
    }
}

/// The host's answer to the first ClientHello.
enum ServerReply {
    Accepted,
    Retry,
}

/// Copies until one side is done, idle for too long, or sends forbidden bytes; only the last is an
/// error. `held` are the bytes after the first ClientHello, which the host already has.
pub(super) async fn relay(
    client: &mut (impl AsyncRead + AsyncWrite + Unpin),
    host: CountedStream,
    named: &AllowedHost,
    held: Vec<u8>,
    timeouts: Timeouts,
) -> Result<(), HelloError> {
    let idle_timer = host.idle_timer();
    idle_timer.reset();
    let (client_read, client_write) = split(client);
    let (host_read, host_write) = split(host);
    let (say, answer) = oneshot::channel();
    let both = async {
        tokio::try_join!(
            client_to_host(
                BufferedClient { from: client_read, bytes: held, ended: false },
                host_write,
                answer,
                named,
                &idle_timer
            ),
            host_to_client(host_read, client_write, say, &idle_timer),
        )
    };
    // The host's connection is closed here in every case. Refusals are already counted.
    tokio::select! {
        ended = both => match ended {
            Err(RelayError::Refused(wrong)) => Err(wrong),
            Err(RelayError::Lost) | Ok(_) => Ok(()),
        },
        () = idle_timer.expired(timeouts) => Ok(()),
    }
}

struct BufferedClient<R> {
    from: R,
    bytes: Vec<u8>,
    ended: bool,
}

impl<R: AsyncRead + Unpin> BufferedClient<R> {
    /// Waits for ever at the end of the stream or when the buffer is full.
    async fn more(&mut self, idle_timer: &IdleTimer) -> io::Result<()> {
        if self.ended || self.bytes.len() > FIRST_BYTES_MAX {
            std::future::pending::<()>().await;
        }
        if self.from.read_buf(&mut self.bytes).await? == 0 {
            self.ended = true;
            idle_timer.half_close();
        }
        Ok(())
    }
}

async fn client_to_host(
    mut held: BufferedClient<impl AsyncRead + Unpin>,
    mut to: impl AsyncWrite + Unpin,
    mut answer: oneshot::Receiver<ServerReply>,
    named: &AllowedHost,
    idle_timer: &IdleTimer,
) -> Result<(), RelayError> {
    let answer = loop {
        tokio::select! {
            biased;
            // Without an answer, the host closed the connection or did not speak TLS.
            answer = &mut answer => break answer.map_err(|_| RelayError::Lost)?,
            more = held.more(idle_timer) => more?,
        }
    };
    if matches!(answer, ServerReply::Retry) {
        let length = read_second_hello(&mut held, named, idle_timer).await?;
        let rest = held.bytes.split_off(length);
        to.write_all(&held.bytes).await?;
        held.bytes = rest;
    }
    to.write_all(&held.bytes).await?;
    if held.ended {
        return Ok(to.shutdown().await?);
    }
    copy(held.from, to, idle_timer).await
}

async fn read_second_hello(
    held: &mut BufferedClient<impl AsyncRead + Unpin>,
    named: &AllowedHost,
    idle_timer: &IdleTimer,
) -> Result<usize, RelayError> {
    loop {
        if let Some(length) =
            check_hello(hello::read_second(&held.bytes), named).map_err(RelayError::Refused)?
        {
            return Ok(length);
        }
        if held.ended {
            return Err(RelayError::Lost);
        }
        if held.bytes.len() > FIRST_BYTES_MAX {
            return Err(RelayError::Refused(HelloError::Name(
                "a malformed second ClientHello".to_owned(),
            )));
        }
        held.more(idle_timer).await?;
    }
}

async fn host_to_client(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    say: oneshot::Sender<ServerReply>,
    idle_timer: &IdleTimer,
) -> Result<(), RelayError> {
    let (mut beginning, mut piece) = (Vec::new(), vec![0; PIECE_BYTES]);
    let answer = loop {
        let read = from.read(&mut piece).await?;
        to.write_all(&piece[..read]).await?;
        let space = retry::BEGINNING_BYTES_MAX - beginning.len();
        beginning.extend_from_slice(&piece[..read.min(space)]);
        match retry::read(&beginning) {
            ServerHelloKind::Unfinished if read > 0 => {}
            ServerHelloKind::Accepted => break ServerReply::Accepted,
            ServerHelloKind::Retry => break ServerReply::Retry,
            // The client receives the bytes, but cannot answer.
            ServerHelloKind::Unfinished | ServerHelloKind::Unknown => {
                idle_timer.half_close();
                if read > 0 {
                    copy(from, &mut to, idle_timer).await?;
                } else {
                    to.shutdown().await?;
                }
                return Err(RelayError::Lost);
            }
        }
    };
    // If the receiver is gone, the other direction has ended.
    drop(say.send(answer));
    drop(piece);
    copy(from, to, idle_timer).await
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    idle_timer: &IdleTimer,
) -> Result<(), RelayError> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = from.read(&mut piece).await?;
        if read == 0 {
            idle_timer.half_close();
            return Ok(to.shutdown().await?);
        }
        to.write_all(&piece[..read]).await?;
    }
}
