//! Resolves a name to its addresses, as the host sees them, allowed or not.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;

use super::options::Timeouts;
use super::rules::{AllowedHost, normalize_name};

const HOSTS_FILE_BYTES_MAX: u64 = 1024 * 1024;

const HOSTS_FILE: &str = "/etc/hosts";

pub(super) enum Resolver {
    /// The host's file of names, then the C library with the host's configuration.
    System,
    /// One name server.
    Server(Box<TokioResolver>),
    /// Fixed answers only; other names are unknown.
    File(HashMap<String, Vec<IpAddr>>),
}

impl Resolver {
    pub(super) fn server(address: SocketAddr, timeouts: Timeouts) -> Result<Self, String> {
        let mut server = NameServerConfig::udp_and_tcp(address.ip());
        for connection in &mut server.connections {
            connection.port = address.port();
        }
        let config = ResolverConfig::from_parts(None, Vec::new(), vec![server]);
        let provider = TokioRuntimeProvider::default();
        let mut builder = TokioResolver::builder_with_config(config, provider);
        let options = builder.options_mut();
        // Answers are pinned per run for its whole duration; a cache here would connect runs.
        options.cache_size = 0;
        options.use_hosts_file = ResolveHosts::Never;
        options.timeout = timeouts.step / 2;
        let built = builder.build().map_err(|error| format!("--resolver {address}: {error}"))?;
        Ok(Self::Server(Box::new(built)))
    }

    pub(super) fn file(path: &Path) -> Result<Self, String> {
        let at = |what: String| {
            format!("--hosts-file {}: {what}; help: correct the file", path.display())
        };
        let unread = |error: io::Error| {
            format!("--hosts-file {}: {error}; help: check the path", path.display())
        };
        let text = bounded(path).map_err(unread)?;
        let mut answers: HashMap<String, Vec<IpAddr>> = HashMap::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let mut words = line.split_ascii_whitespace();
            let Some(address) = words.next() else { continue };
            let address: IpAddr = address
                .parse()
                .map_err(|_| at(format!("line {}: {address:?} is not an address", number + 1)))?;
            for name in words {
                if !matches!(AllowedHost::parse(name), Some(AllowedHost::Name(_))) {
                    return Err(at(format!("line {}: {name:?} is not a host name", number + 1)));
                }
                answers.entry(normalize_name(name)).or_default().push(address);
            }
        }
        Ok(Self::File(answers))
    }

    /// Returns every address of a name, in the order of the answer, without a search list.
    ///
    /// # Errors
    /// The name has no address, or no name server answered.
    pub(super) async fn look_up(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let whole = format!("{name}.");
        match self {
            Self::System => {
                // The trailing dot disables search lists, and the C library's use of this file.
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

/// Other programs also write the host's own file, so invalid lines are skipped.
fn of_hosts_file(name: &str, path: &Path) -> io::Result<Vec<IpAddr>> {
    let text = match bounded(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let address = |line: &str| {
        let mut words = line.split('#').next()?.split_ascii_whitespace();
        let address: IpAddr = words.next()?.parse().ok()?;
        words.any(|it| normalize_name(it) == name).then_some(address)
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
