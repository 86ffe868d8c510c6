//! Copies the bytes of a tunnel in both directions, after its first ClientHello.
//!
//! Bytes of the client are held back until the host has accepted that ClientHello. If the host asks
//! for another one, it is passed on only if it names the same host: until then it is in plain text
//! and could change the host.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::sync::oneshot;

use super::first_hello::{FIRST_BYTES_MAX, Wrong, judged};
use super::hello;
use super::metered::Metered;
use super::options::Patience;
use super::pulse::Pulse;
use super::retry::{self, Word};
use super::rules::Host;

/// Bytes copied at a time, in each direction.
const PIECE_BYTES: usize = 32 * 1024;

/// The reason why one direction of a tunnel ends early.
pub(super) enum Broken {
    /// A side closed the connection, or the run's bytes are used up.
    Lost,
    Wrong(Wrong),
}

impl From<io::Error> for Broken {
    fn from(_: io::Error) -> Self {
        Self::Lost
    }
}

/// The host's answer to the first ClientHello.
enum Answer {
    Taken,
    Again,
}

/// Copies until one side is done, idle for too long, or sends forbidden bytes; only the last is an
/// error. `held` are the bytes after the first ClientHello, which the host already has.
pub(super) async fn relay(
    client: &mut (impl AsyncRead + AsyncWrite + Unpin),
    host: Metered,
    named: &Host,
    held: Vec<u8>,
    patience: Patience,
) -> Result<(), Wrong> {
    let pulse = host.pulse();
    pulse.beat();
    let (client_read, client_write) = split(client);
    let (host_read, host_write) = split(host);
    let (say, answer) = oneshot::channel();
    let both = async {
        tokio::try_join!(
            outwards(
                Held { from: client_read, bytes: held, ended: false },
                host_write,
                answer,
                named,
                &pulse
            ),
            inwards(host_read, client_write, say, &pulse),
        )
    };
    // In every case the host's connection is closed here. Refusals are already counted.
    tokio::select! {
        ended = both => match ended {
            Err(Broken::Wrong(wrong)) => Err(wrong),
            Err(Broken::Lost) | Ok(_) => Ok(()),
        },
        () = pulse.stopped(patience) => Ok(()),
    }
}

/// Bytes from the client that were not sent to the host yet.
struct Held<R> {
    from: R,
    bytes: Vec<u8>,
    ended: bool,
}

impl<R: AsyncRead + Unpin> Held<R> {
    /// Waits for more bytes; waits for ever at the end of the stream or when the buffer is full.
    async fn more(&mut self, pulse: &Pulse) -> io::Result<()> {
        if self.ended || self.bytes.len() > FIRST_BYTES_MAX {
            std::future::pending::<()>().await;
        }
        if self.from.read_buf(&mut self.bytes).await? == 0 {
            self.ended = true;
            pulse.half_close();
        }
        Ok(())
    }
}

async fn outwards(
    mut held: Held<impl AsyncRead + Unpin>,
    mut to: impl AsyncWrite + Unpin,
    mut answer: oneshot::Receiver<Answer>,
    named: &Host,
    pulse: &Pulse,
) -> Result<(), Broken> {
    let answer = loop {
        tokio::select! {
            biased;
            // Without an answer, the host closed the connection or did not speak TLS.
            answer = &mut answer => break answer.map_err(|_| Broken::Lost)?,
            more = held.more(pulse) => more?,
        }
    };
    if matches!(answer, Answer::Again) {
        let length = second(&mut held, named, pulse).await?;
        let rest = held.bytes.split_off(length);
        to.write_all(&held.bytes).await?;
        held.bytes = rest;
    }
    to.write_all(&held.bytes).await?;
    if held.ended {
        return Ok(to.shutdown().await?);
    }
    copy(held.from, to, pulse).await
}

/// Reads to the end of the second ClientHello, and checks it.
async fn second(
    held: &mut Held<impl AsyncRead + Unpin>,
    named: &Host,
    pulse: &Pulse,
) -> Result<usize, Broken> {
    loop {
        if let Some(length) =
            judged(hello::read_again(&held.bytes), named).map_err(Broken::Wrong)?
        {
            return Ok(length);
        }
        if held.ended {
            return Err(Broken::Lost);
        }
        if held.bytes.len() > FIRST_BYTES_MAX {
            return Err(Broken::Wrong(Wrong::Name("a malformed second ClientHello".to_owned())));
        }
        held.more(pulse).await?;
    }
}

async fn inwards(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    say: oneshot::Sender<Answer>,
    pulse: &Pulse,
) -> Result<(), Broken> {
    let (mut beginning, mut piece) = (Vec::new(), vec![0; PIECE_BYTES]);
    let answer = loop {
        let read = from.read(&mut piece).await?;
        to.write_all(&piece[..read]).await?;
        let room = retry::BEGINNING_BYTES_MAX - beginning.len();
        beginning.extend_from_slice(&piece[..read.min(room)]);
        match retry::read(&beginning) {
            Word::Unfinished if read > 0 => {}
            Word::Taken => break Answer::Taken,
            Word::Again => break Answer::Again,
            // The client receives the bytes, but cannot answer.
            Word::Unfinished | Word::Unknown => {
                pulse.half_close();
                if read > 0 {
                    copy(from, &mut to, pulse).await?;
                } else {
                    to.shutdown().await?;
                }
                return Err(Broken::Lost);
            }
        }
    };
    // If the receiver is gone, the other direction has ended.
    drop(say.send(answer));
    drop(piece);
    copy(from, to, pulse).await
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    pulse: &Pulse,
) -> Result<(), Broken> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = from.read(&mut piece).await?;
        if read == 0 {
            pulse.half_close();
            return Ok(to.shutdown().await?);
        }
        to.write_all(&piece[..read]).await?;
    }
}
