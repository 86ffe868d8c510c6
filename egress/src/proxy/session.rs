//! One run, from its order to its report. The end of the session always ends its connections.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::net::sockopt::{socket_acceptconn, socket_type};
use rustix::net::{RecvFlags, SendFlags, SocketType};
use tokio::io::Interest;
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use egress::frame::{EgressRefusalReason, ProxyAnswer, ProxyOrder, ServeOrder, ServeRefusal};
use egress::wire::{self, ReceivedFrame};

use super::connection;
use super::counters::TrafficCounters;
use super::limit::PrivateAddressLimit;
use super::model::{AddressPin, ProxyState, ServedRun};
use super::rules::RunHostRules;

/// Connections over the run's limit that get an explanation at one time; others are just closed.
const EXPLAINED_MAX: usize = 16;
/// The pause when the host has no free descriptor for another connection.
const PAUSE: Duration = Duration::from_millis(50);

/// A seqpacket socket, although the type is named a stream. Waiting and accepting are the same for
/// all Unix sockets; only `wire` sends and receives frames.
pub(super) struct ClientSocket(UnixStream);

impl ClientSocket {
    pub(super) fn new(socket: OwnedFd) -> io::Result<Self> {
        let socket = std::os::unix::net::UnixStream::from(socket);
        socket.set_nonblocking(true)?;
        UnixStream::from_std(socket).map(Self)
    }

    pub(super) fn accepted(socket: UnixStream) -> Self {
        Self(socket)
    }

    /// Returns the uid of the process that connected, as recorded by the kernel.
    pub(super) fn uid(&self) -> io::Result<u32> {
        self.0.peer_cred().map(|it| it.uid())
    }

    async fn receive(&self) -> io::Result<Option<ReceivedFrame>> {
        let receive = || wire::receive(&self.0, RecvFlags::DONTWAIT);
        self.0.async_io(Interest::READABLE, receive).await
    }

    pub(super) async fn send(&self, answer: &ProxyAnswer) -> io::Result<()> {
        let send = || wire::send(&self.0, answer, None, SendFlags::DONTWAIT);
        self.0.async_io(Interest::WRITABLE, send).await
    }
}

pub(super) async fn refuse_session(
    host: &ProxyState,
    client: ClientSocket,
    why: ServeRefusal,
) -> io::Result<()> {
    // Closing the socket with an unread order would discard the answer.
    drop(timeout(host.timeouts.step, client.receive()).await);
    client.send(&ProxyAnswer::Unable(why)).await
}

/// Returns an error if the client's socket fails.
pub(super) async fn serve_session(host: Arc<ProxyState>, client: ClientSocket) -> io::Result<()> {
    let Ok(begun) = timeout(host.timeouts.step, begin(&client, &host.private_limit)).await else {
        return client.send(&ProxyAnswer::Unable(ServeRefusal::Malformed)).await;
    };
    let Some(begun) = begun? else { return Ok(()) };
    let (order, rules, listener) = match begun {
        Ok(begun) => begun,
        Err(why) => return client.send(&ProxyAnswer::Unable(why)).await,
    };
    let ledger = TrafficCounters::new(&rules, order.bytes_max);
    let pins = rules.hosts().map(|_| AddressPin::new()).collect();
    let confinement = host.confinement;
    let run = Arc::new(ServedRun { rules, pins, counters: ledger, host });
    client.send(&ProxyAnswer::Serving(confinement)).await?;
    let last = {
        // Dropping this future closes the listener and every connection.
        let accepting = accept(Arc::clone(&run), &order, listener);
        until_closed(&client, accepting).await?
    };
    match last {
        SessionEnd::Close => client.send(&ProxyAnswer::Report(run.counters.report())).await,
        SessionEnd::InvalidOrder => {
            client.send(&ProxyAnswer::Unable(ServeRefusal::Malformed)).await
        }
        SessionEnd::Disconnected => Ok(()),
    }
}

type StartedSession = Result<(ServeOrder, RunHostRules, TcpListener), ServeRefusal>;

/// Returns `None` if the client closed the socket.
async fn begin(
    client: &ClientSocket,
    private_limit: &PrivateAddressLimit,
) -> io::Result<Option<StartedSession>> {
    let received = match client.receive().await {
        Ok(Some(received)) => received,
        Ok(None) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Ok(Some(Err(ServeRefusal::Malformed)));
        }
        Err(error) => return Err(error),
    };
    Ok(Some(match received.parse() {
        Ok(ProxyOrder::Serve(order)) => {
            RunHostRules::new(&order, private_limit).and_then(|rules| {
                let listener = received.into_only_fd().ok_or(ServeRefusal::NotAListener)?;
                Ok((order, rules, listening(listener)?))
            })
        }
        Ok(ProxyOrder::Close) | Err(_) => Err(ServeRefusal::Malformed),
    }))
}

/// A listening TCP socket on loopback is the only kind that is used.
fn listening(fd: OwnedFd) -> Result<TcpListener, ServeRefusal> {
    let good = socket_type(fd.as_fd()) == Ok(SocketType::STREAM)
        && socket_acceptconn(fd.as_fd()) == Ok(true);
    if !good {
        return Err(ServeRefusal::NotAListener);
    }
    let listener = std::net::TcpListener::from(fd);
    // This fails for all socket families other than TCP's.
    let local = listener.local_addr().map_err(|_| ServeRefusal::NotAListener)?;
    if !local.ip().to_canonical().is_loopback() {
        return Err(ServeRefusal::NotAListener);
    }
    listener.set_nonblocking(true).map_err(|_| ServeRefusal::NotAListener)?;
    TcpListener::from_std(listener).map_err(|_| ServeRefusal::NotAListener)
}

enum SessionEnd {
    Close,
    Disconnected,
    InvalidOrder,
}

async fn until_closed(
    client: &ClientSocket,
    accepting: impl Future<Output = Infallible>,
) -> io::Result<SessionEnd> {
    let received = tokio::select! {
        biased;
        received = client.receive() => received,
        never = accepting => match never {},
    };
    match received {
        Ok(None) => Ok(SessionEnd::Disconnected),
        Ok(Some(received)) => match received.parse() {
            Ok(ProxyOrder::Close) if !received.has_fds() => Ok(SessionEnd::Close),
            Ok(_) | Err(_) => Ok(SessionEnd::InvalidOrder),
        },
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(SessionEnd::InvalidOrder),
        Err(error) => Err(error),
    }
}

/// Accepts connections until the run's time is over; then it closes all of them.
async fn accept(run: Arc<ServedRun>, order: &ServeOrder, listener: TcpListener) -> Infallible {
    let end = Instant::now() + Duration::from_millis(order.time_ms_max);
    let connections = usize::try_from(order.connections_max).unwrap_or(usize::MAX);
    let (served, explained) =
        (Arc::new(Semaphore::new(connections)), Arc::new(Semaphore::new(EXPLAINED_MAX)));
    // Each connection with a request holds a reference.
    let requests = Arc::new(());
    let mut tasks = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = sleep_until(end) => break,
            Some(_) = tasks.join_next(), if !tasks.is_empty() => continue,
            accepted = listener.accept() => accepted,
        };
        let Ok((client, _)) = accepted else {
            sleep(PAUSE).await;
            continue;
        };
        let run = Arc::clone(&run);
        if let Ok(permit) = Arc::clone(&served).try_acquire_owned() {
            let requests = Arc::downgrade(&requests);
            tasks.spawn(async move {
                if connection::has_request(&run, &client).await {
                    let _counted = requests.upgrade();
                    connection::serve(run, client).await;
                }
                drop(permit);
            });
        } else {
            refuse(&mut tasks, run, client, &explained);
        }
    }
    // The requests that were cut. Later connections fail.
    for _ in 1..Arc::strong_count(&requests) {
        run.counters.refuse("(connection)", EgressRefusalReason::Time);
    }
    drop((tasks, listener));
    std::future::pending().await
}

fn refuse(
    tasks: &mut JoinSet<()>,
    run: Arc<ServedRun>,
    client: TcpStream,
    explained: &Arc<Semaphore>,
) {
    run.counters.refuse("(connection)", EgressRefusalReason::Connections);
    if let Ok(permit) = Arc::clone(explained).try_acquire_owned() {
        tasks.spawn(async move {
            connection::refuse(run, client, EgressRefusalReason::Connections).await;
            drop(permit);
        });
    }
}
