//! The state of the program: the open directories of its spool, the trusted keys and the limits. It
//! is opened once, before the program restricts itself.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::beneath::open_directory;
use crate::options::Options;
use crate::origin::ConsoleOrigin;
use crate::page_error::PageError;
use crate::passkeys::PasskeyFile;
use crate::trust_files::ConsoleTrust;

/// Limit of streams of events at once.
const STREAMS_MAX: usize = 64;
/// Limit of pages that are made at once. Those of results hash files.
const PAGES_MAX: usize = 8;
/// Limit of actions that are prepared, delivered or asked about at once.
const ACTIONS_MAX: usize = 4;
/// Limit of looks for streams at once. A look is short.
const LOOKS_MAX: usize = 4;
/// Limit of files that are downloaded at once.
const DOWNLOADS_MAX: usize = 16;
/// Limit of bytes of large answers that clients have not read yet.
const UNREAD_BYTES_MAX: usize = 128 << 20;

/// The state that all requests share.
pub(crate) struct ConsoleState {
    /// The resolved path of the spool.
    pub(crate) spool: PathBuf,
    pub(crate) drafts: OwnedFd,
    pub(crate) results: OwnedFd,
    pub(crate) public: OwnedFd,
    /// None if the spool takes no signed actions.
    pub(crate) signed: Option<OwnedFd>,
    pub(crate) passkeys: PasskeyFile,
    pub(crate) trust: ConsoleTrust,
    pub(crate) origins: Vec<ConsoleOrigin>,
    pub(crate) streams: Arc<Semaphore>,
    /// One permit for each byte.
    pub(crate) unread: Arc<Semaphore>,
    pub(crate) downloads: Arc<Semaphore>,
    pages: Arc<Semaphore>,
    actions: Arc<Semaphore>,
    looks: Arc<Semaphore>,
}

impl ConsoleState {
    /// Opens the spool and reads the files of the options.
    pub(crate) fn open(options: &Options, origins: Vec<ConsoleOrigin>) -> Result<Self, String> {
        let shown = options.spool.display();
        let spool = fs::canonicalize(&options.spool)
            .map_err(|error| format!("--spool {shown}: {error}; help: name a spool"))?;
        let open = |name: &str| {
            let path = spool.join(name);
            open_directory(&path).map_err(|error| unusable(&path, &error))
        };
        let signed = spool.join("signed");
        let signed = fs::symlink_metadata(&signed).is_ok().then(|| open("signed")).transpose()?;
        let signers = options.allowed_signers.as_deref().map(canonical_signers).transpose()?;
        let passkeys = PasskeyFile::new(signers);
        passkeys.list()?;
        Ok(Self {
            drafts: open("drafts")?,
            results: open("results")?,
            public: open("public")?,
            signed,
            passkeys,
            trust: ConsoleTrust::read(options)?,
            origins,
            streams: Arc::new(Semaphore::new(STREAMS_MAX)),
            unread: Arc::new(Semaphore::new(UNREAD_BYTES_MAX)),
            downloads: Arc::new(Semaphore::new(DOWNLOADS_MAX)),
            pages: Arc::new(Semaphore::new(PAGES_MAX)),
            actions: Arc::new(Semaphore::new(ACTIONS_MAX)),
            looks: Arc::new(Semaphore::new(LOOKS_MAX)),
            spool,
        })
    }

    /// Returns the path of a part of the spool.
    pub(crate) fn part(&self, name: &str) -> PathBuf {
        self.spool.join(name)
    }
}

/// Returns the absolute path of the daemon's `allowed_signers`.
fn canonical_signers(path: &Path) -> Result<PathBuf, String> {
    fs::canonicalize(path).map_err(|error| {
        let path = path.display();
        format!("--allowed-signers {path}: {error}; help: name the allowed_signers of the daemon")
    })
}

fn unusable(path: &Path, error: &std::io::Error) -> String {
    format!(
        "{}: {error}; help: use the spool of a daemon, with drafts/, results/ and public/ that \
         this user may read",
        path.display()
    )
}

/// A kind of work. Each has its own places, so that slow pages delay neither actions nor streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WorkKind {
    Page,
    /// An action is prepared, is delivered, or its answer is asked for.
    Action,
    /// A stream looks for its next event.
    Look,
}

/// Makes a page on a thread of its own, so that other requests go on meanwhile.
pub(crate) async fn blocking<T: Send + 'static>(
    console: Arc<ConsoleState>,
    work: impl FnOnce(&ConsoleState) -> Result<T, PageError> + Send + 'static,
) -> Result<T, PageError> {
    blocking_as(WorkKind::Page, console, work).await
}

/// Does work of a kind on a thread of its own. It waits for others of its kind only.
pub(crate) async fn blocking_as<T: Send + 'static>(
    kind: WorkKind,
    console: Arc<ConsoleState>,
    work: impl FnOnce(&ConsoleState) -> Result<T, PageError> + Send + 'static,
) -> Result<T, PageError> {
    let places = match kind {
        WorkKind::Page => &console.pages,
        WorkKind::Action => &console.actions,
        WorkKind::Look => &console.looks,
    };
    let place = Arc::clone(places).acquire_owned().await.map_err(PageError::internal)?;
    let work = move || {
        let done = work(&console);
        // Not before: the work goes on after a client has left, and must still be counted.
        drop(place);
        done
    };
    spawn_blocking(work).await.map_err(PageError::internal)?
}
