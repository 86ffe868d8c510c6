//! A connection to a host. Every byte is counted, and none passes beyond the run's allowance.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use egress::frame::Reason;

use super::ledger::{Pages, Way};
use super::model::Run;
use super::pulse::Pulse;

#[derive(Debug)]
pub(super) struct Metered {
    host: TcpStream,
    run: Arc<Run>,
    rule: usize,
    pulse: Arc<Pulse>,
}

impl Metered {
    pub(super) fn new(host: TcpStream, run: Arc<Run>, rule: usize) -> Self {
        Self { host, run, rule, pulse: Arc::new(Pulse::new()) }
    }

    /// Returns the timer that is reset by every byte.
    pub(super) fn pulse(&self) -> Arc<Pulse> {
        Arc::clone(&self.pulse)
    }
}

fn used_up(pages: &mut Pages, rule: usize) -> io::Error {
    let name = pages.host_name(rule).to_owned();
    pages.refuse(&name, Reason::Bytes);
    io::Error::new(io::ErrorKind::QuotaExceeded, "the run's byte limit is used up")
}

impl AsyncRead for Metered {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let mut pages = this.run.ledger.open();
        let host = Pin::new(&mut this.host);
        if pages.room() == 0 {
            // The end of the stream is not a byte: an answer that uses exactly the allowance ends
            // normally.
            let mut one = [0];
            let mut one = ReadBuf::new(&mut one);
            ready!(host.poll_read(cx, &mut one))?;
            let ended = one.filled().is_empty();
            return Poll::Ready(if ended { Ok(()) } else { Err(used_up(&mut pages, this.rule)) });
        }
        let mut within =
            ReadBuf::new(buf.initialize_unfilled_to(pages.room().min(buf.remaining())));
        ready!(host.poll_read(cx, &mut within))?;
        let read = within.filled().len();
        buf.advance(read);
        pages.moved(this.rule, Way::FromHost, read);
        this.pulse.beat();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Metered {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let mut pages = this.run.ledger.open();
        let within = &buf[..buf.len().min(pages.room())];
        if within.is_empty() && !buf.is_empty() {
            return Poll::Ready(Err(used_up(&mut pages, this.rule)));
        }
        let written = ready!(Pin::new(&mut this.host).poll_write(cx, within))?;
        pages.moved(this.rule, Way::ToHost, written);
        this.pulse.beat();
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().host).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().host).poll_shutdown(cx)
    }
}
