//! From a name to its addresses, as the host sees them. What becomes of them is not decided here.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;

use super::options::Patience;
use super::rules::{Host, fold};

/// Largest file of fixed answers, bytes.
const HOSTS_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Where a host keeps names of its own.
const HOSTS_FILE: &str = "/etc/hosts";

/// Whom to ask.
pub(super) enum Resolver {
    /// The host's file of names, then the C library with whatever the host has configured.
    System,
    /// One name server.
    Server(Box<TokioResolver>),
    /// Fixed answers; no other name is known.
    File(HashMap<String, Vec<IpAddr>>),
}

impl Resolver {
    pub(super) fn server(address: SocketAddr, patience: Patience) -> Result<Self, String> {
        let mut server = NameServerConfig::udp_and_tcp(address.ip());
        for connection in &mut server.connections {
            connection.port = address.port();
        }
        let config = ResolverConfig::from_parts(None, Vec::new(), vec![server]);
        let provider = TokioRuntimeProvider::default();
        let mut builder = TokioResolver::builder_with_config(config, provider);
        let options = builder.options_mut();
        // Answers are kept per run and for its whole life; one kept here would join runs.
        options.cache_size = 0;
        options.use_hosts_file = ResolveHosts::Never;
        options.timeout = patience.step / 2;
        let built = builder.build().map_err(|error| format!("--resolver {address}: {error}"))?;
        Ok(Self::Server(Box::new(built)))
    }

    pub(super) fn file(path: &Path) -> Result<Self, String> {
        let at = |what: String| format!("--hosts-file {}: {what}", path.display());
        let text = bounded(path).map_err(|error| at(error.to_string()))?;
        let mut answers: HashMap<String, Vec<IpAddr>> = HashMap::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let mut words = line.split_ascii_whitespace();
            let Some(address) = words.next() else { continue };
            let address: IpAddr = address
                .parse()
                .map_err(|_| at(format!("line {}: {address:?} is no address", number + 1)))?;
            for name in words {
                if !matches!(Host::parse(name), Some(Host::Name(_))) {
                    return Err(at(format!("line {}: {name:?} is no host name", number + 1)));
                }
                answers.entry(fold(name)).or_default().push(address);
            }
        }
        Ok(Self::File(answers))
    }

    /// Every address of a name, in the order of the answer. The name is whole: no search list is tried.
    ///
    /// # Errors
    /// There is none, or nobody answered.
    pub(super) async fn look_up(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let whole = format!("{name}.");
        match self {
            Self::System => {
                // The dot that keeps search lists away keeps the C library from finding names there.
                let of_host = of_hosts_file(name, Path::new(HOSTS_FILE))?;
                if !of_host.is_empty() {
                    return Ok(of_host);
                }
                let answer = tokio::net::lookup_host((whole, 0)).await?;
                Ok(answer.map(|it| it.ip()).collect())
            }
            Self::Server(server) => {
                let answer = server.lookup_ip(whole).await.map_err(io::Error::other)?;
                Ok(answer.iter().collect())
            }
            Self::File(answers) => {
                answers.get(name).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
            }
        }
    }
}

/// The addresses that the host's own file gives a name. Its lines are other programs', too: those that are
/// wrong are passed over.
fn of_hosts_file(name: &str, path: &Path) -> io::Result<Vec<IpAddr>> {
    let text = match bounded(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let address = |line: &str| {
        let mut words = line.split('#').next()?.split_ascii_whitespace();
        let address: IpAddr = words.next()?.parse().ok()?;
        words.any(|it| fold(it) == name).then_some(address)
    };
    Ok(text.lines().filter_map(address).collect())
}

fn bounded(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(HOSTS_FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    let size = u64::try_from(text.len()).unwrap_or(u64::MAX);
    if size > HOSTS_FILE_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than 1 MiB"));
    }
    Ok(text)
}
