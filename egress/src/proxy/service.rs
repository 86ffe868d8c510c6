//! Starts the sessions: one on standard input, or many from a listening socket there.

use std::fmt::Display;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::net::SocketType;
use rustix::net::sockopt::{socket_acceptconn, socket_peercred, socket_type};
use tokio::net::UnixListener;
use tokio::sync::Semaphore;

use egress::frame::ServeRefusal;

use super::confine::{ReadableFiles, confine};
use super::descriptors::close_inherited;
use super::model::ProxyState;
use super::options::Options;
use super::resolve::Resolver;
use super::session::{ClientSocket, refuse_session, serve_session};

enum RunSource {
    One(OwnedFd),
    Many { listener: OwnedFd, client: u32 },
}

pub(super) fn run(options: Options) -> Result<(), String> {
    close_inherited()?;
    // All file system access outside name look-ups comes before the confinement.
    let source = source(&options)?;
    let fixed = options.hosts_file.as_deref().map(Resolver::file).transpose()?;
    let private_limit = match source {
        RunSource::One(_) => options.private_limit_of_one(),
        RunSource::Many { .. } => options.private_limit_of_many(),
    };
    let reads = match source {
        _ if fixed.is_some() || options.resolver.is_some() => ReadableFiles::Nothing,
        RunSource::One(_) => ReadableFiles::Files,
        RunSource::Many { .. } => ReadableFiles::Directory,
    };
    let confinement = confine(reads)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start the runtime: {error}"))?;
    let timeouts = options.timeouts();
    runtime.block_on(async {
        let resolver = match (fixed, options.resolver) {
            (Some(fixed), _) => fixed,
            (None, Some(server)) => Resolver::server(server, timeouts)?,
            (None, None) => Resolver::System,
        };
        let host = Arc::new(ProxyState { resolver, timeouts, confinement, private_limit });
        match source {
            RunSource::One(socket) => {
                let client = ClientSocket::new(socket).map_err(at("standard input"))?;
                serve_session(host, client).await.map_err(at("client"))
            }
            RunSource::Many { listener, client } => {
                serve(host, listener, client, options.runs_max.into()).await
            }
        }
    })
}

fn at<E: Display>(what: &str) -> impl FnOnce(E) -> String {
    let what = what.to_owned();
    move |error| format!("{what}: {error}")
}

fn source(options: &Options) -> Result<RunSource, String> {
    let socket = io::stdin().as_fd().try_clone_to_owned().map_err(at("the client's socket"))?;
    if socket_type(&socket) != Ok(SocketType::SEQPACKET) {
        let why = "standard input: not a seqpacket socket; help: let toolexecd start this program";
        return Err(why.to_owned());
    }
    let listens = socket_acceptconn(&socket).map_err(at("the client's socket"))?;
    match (listens, &options.client_user) {
        (true, Some(user)) => Ok(RunSource::Many { listener: socket, client: uid_of(user)? }),
        (true, None) => {
            let why = "--client-user: required with a listening socket";
            Err(format!("{why}; help: name the user of toolexecd"))
        }
        (false, Some(user)) => {
            let client = uid_of(user)?;
            let peer = socket_peercred(&socket).map_err(at("the client's socket"))?;
            if peer.uid.as_raw() != client {
                let peer = peer.uid.as_raw();
                return Err(format!(
                    "client: uid {peer} is not {user}; help: name it with --client-user"
                ));
            }
            Ok(RunSource::One(socket))
        }
        (false, None) => Ok(RunSource::One(socket)),
    }
}

fn uid_of(user: &str) -> Result<u32, String> {
    if let Ok(uid) = user.parse() {
        return Ok(uid);
    }
    let found = nix::unistd::User::from_name(user).map_err(at("--client-user"))?;
    let missing = || format!("--client-user {user}: no such user; help: pass a name or a uid");
    found.map(|it| it.uid.as_raw()).ok_or_else(missing)
}

/// Runs affect each other only by their number.
async fn serve(
    host: Arc<ProxyState>,
    listener: OwnedFd,
    client: u32,
    runs_max: usize,
) -> Result<(), String> {
    let listener = std::os::unix::net::UnixListener::from(listener);
    listener.set_nonblocking(true).map_err(at("the client's socket"))?;
    let listener = UnixListener::from_std(listener).map_err(at("the client's socket"))?;
    let runs = Arc::new(Semaphore::new(runs_max));
    loop {
        let socket = match listener.accept().await {
            Ok((socket, _)) => ClientSocket::accepted(socket),
            Err(error) => {
                eprintln!("toolexec-egress: accept: {error}");
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                continue;
            }
        };
        let (host, permit) = (Arc::clone(&host), Arc::clone(&runs).try_acquire_owned());
        tokio::spawn(async move {
            let ended = match permit {
                Ok(_permit) => admitted(host, socket, client).await,
                Err(_) => refuse_busy(&host, socket, client).await,
            };
            if let Err(error) = ended {
                eprintln!("toolexec-egress: client: {error}");
            }
        });
    }
}

async fn admitted(host: Arc<ProxyState>, socket: ClientSocket, client: u32) -> io::Result<()> {
    check_peer(&socket, client)?;
    serve_session(host, socket).await
}

async fn refuse_busy(host: &ProxyState, socket: ClientSocket, client: u32) -> io::Result<()> {
    check_peer(&socket, client)?;
    refuse_session(host, socket, ServeRefusal::Busy).await
}

fn check_peer(socket: &ClientSocket, client: u32) -> io::Result<()> {
    let peer = socket.uid()?;
    if peer == client {
        return Ok(());
    }
    let why = format!("uid {peer} is not the user of --client-user");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}
