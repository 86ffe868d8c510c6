//! A tool whose runs the kernel counts. A sandbox gives its tool nothing writable but `/out`, which
//! disappears with it. So the tool first opens a file for reading that its policy mounts, one file
//! for each request, and inotify reports each close outside. Only the tool knows the files: must
//! never count files that our programs open.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::io::Errno;

use crate::bench::Bench;
use crate::c_compiler::is_compiled;
use crate::service_config::ServiceConfig;
use crate::skip;

const SOURCE: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* python script.py NAME [fail | slow | loud] */
int main(int count, char **words) {
    char path[512];
    if (count < 3)
        return 0;
    snprintf(path, sizeof path, "%s/ran/%s", PLACE, words[2]);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 77;
    close(file);
    if (count > 3 && (strcmp(words[3], "slow") == 0 || strcmp(words[3], "loud") == 0))
        sleep(5);
    if (count > 3 && strcmp(words[3], "loud") == 0) {
        /* 128 KiB that do not compress well. */
        unsigned long long state = 88172645463325252ULL;
        for (int line = 0; line < 8192; line++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            printf("%015llx\n", state >> 4);
        }
    }
    return count > 3 && strcmp(words[3], "fail") == 0 ? 1 : 0;
}
"#;

/// The tool, in a directory that a sandbox may mount and every user can read. Removed when dropped.
pub struct CountedTool(PathBuf);

impl CountedTool {
    /// Builds the tool. Logs a skip and returns `None` without a compiler or a writable `/opt`.
    ///
    /// # Panics
    /// Panics if `/opt` cannot be used for another reason, or if the tool does not compile.
    #[must_use]
    pub fn build(test: &str) -> Option<Self> {
        let place = match create_place() {
            Ok(place) => place,
            Err(error) if is_not_writable(error.kind()) => {
                skip(test, &format!("/opt: {error}"));
                return None;
            }
            Err(error) => panic!("/opt: {error}"),
        };
        let tool = Self(place);
        tool.open_to_all(&tool.0);
        let source = tool.0.join("tool.c");
        fs::write(&source, SOURCE).unwrap();
        let mut compiler = Command::new("cc");
        compiler.arg(format!("-DPLACE=\"{}\"", tool.0.display()));
        compiler.args(["-O2", "-static", "-o"]).arg(tool.program()).arg(&source);
        is_compiled(test, &mut compiler).then_some(tool)
    }

    fn open_to_all(&self, path: &Path) {
        assert!(path.starts_with(&self.0));
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }

    /// The program. Without arguments it does nothing.
    #[must_use]
    pub fn program(&self) -> PathBuf {
        self.0.join("tool")
    }

    /// Returns a configuration whose policy runs this tool as `python`.
    #[must_use]
    pub fn service_config(&self, bench: &Bench) -> ServiceConfig {
        ServiceConfig::for_owner(bench).edited(&[
            ("binary: /usr/bin/python3", format!("binary: {}", self.program().display())),
            ("mounts: [/usr]", format!("mounts: [{}]", self.0.display())),
        ])
    }

    #[must_use]
    pub fn count(&self) -> RunCounter {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let ran = self.0.join("ran");
        if !ran.exists() {
            fs::create_dir(&ran).unwrap();
            self.open_to_all(&ran);
        }
        let prefix = format!("{}-", COUNT.fetch_add(1, Ordering::Relaxed));
        RunCounter::of(ran, prefix)
    }
}

/// Creates a directory for a tool. Passes over those that an earlier process left.
fn create_place() -> io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let place = PathBuf::from(format!("/opt/toolexec-proof-{}-{number}", std::process::id()));
        match fs::create_dir(&place) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            created => return created.map(|()| place),
        }
    }
}

fn is_not_writable(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

impl Drop for CountedTool {
    fn drop(&mut self) {
        let removed = fs::remove_dir_all(&self.0);
        assert!(removed.is_ok() || std::thread::panicking(), "{removed:?}");
    }
}

/// The number of runs by name.
pub type RunCounts = BTreeMap<String, u32>;

/// A running count, stopped when dropped.
pub struct RunCounter {
    ran: PathBuf,
    prefix: String,
    counts: Arc<Mutex<RunCounts>>,
    stop: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl RunCounter {
    fn of(ran: PathBuf, prefix: String) -> Self {
        File::create_new(marker_in(&ran, &prefix)).unwrap();
        let watch = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
        // OPEN is watched too: the kernel merges two equal events that follow each other.
        inotify::add_watch(&watch, &ran, WatchFlags::OPEN | WatchFlags::CLOSE_NOWRITE).unwrap();
        let counts = Arc::new(Mutex::new(RunCounts::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let reader = std::thread::spawn({
            let (counts, stop) = (Arc::clone(&counts), Arc::clone(&stop));
            move || read_events(&watch, &counts, &stop)
        });
        Self { ran, prefix, counts, stop, reader: Some(reader) }
    }

    /// Returns the argument that identifies a run to the tool. Runs with it are counted.
    #[must_use]
    pub fn run_argument(&self, name: &str) -> String {
        self.expect(name);
        format!("{}{name}", self.prefix)
    }

    /// Creates the file that a run of this name opens.
    pub fn expect(&self, name: &str) {
        let path = self.ran.join(format!("{}{name}", self.prefix));
        if !path.exists() {
            let file = File::create_new(&path).unwrap();
            file.set_permissions(Permissions::from_mode(0o644)).unwrap();
        }
    }

    #[must_use]
    pub fn counts(&self) -> RunCounts {
        self.wait_for_reader();
        let counts = self.counts.lock().unwrap();
        let own = counts.iter().filter_map(|(word, count)| Some((self.own_name(word)?, *count)));
        own.collect()
    }

    /// Restores an earlier count. Use this after a spool was reset to the state at that count.
    pub fn restore(&self, earlier: &RunCounts) {
        self.wait_for_reader();
        let mut counts = self.counts.lock().unwrap();
        counts.retain(|word, _| !word.starts_with(&self.prefix));
        counts
            .extend(earlier.iter().map(|(name, count)| (format!("{}{name}", self.prefix), *count)));
    }

    /// Waits until every run so far is counted. The kernel reports while it closes a file, and its
    /// queue is ordered: once the reader has counted a marker, it has counted all runs before.
    fn wait_for_reader(&self) {
        let path = marker_in(&self.ran, &self.prefix);
        let marker = path.file_name().unwrap().to_str().unwrap();
        let count = || self.counts.lock().unwrap().get(marker).copied();
        let before = count();
        drop(File::open(&path).unwrap());
        let begun = Instant::now();
        while count() == before {
            assert!(begun.elapsed() < Duration::from_secs(30), "the count was lost");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn own_name(&self, word: &str) -> Option<String> {
        word.strip_prefix(&self.prefix).map(str::to_owned)
    }
}

impl Drop for RunCounter {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let joined = self.reader.take().unwrap().join();
        assert!(joined.is_ok() || std::thread::panicking(), "the count was lost");
    }
}

/// Returns the path of the file that shows how far the reader of a count has come.
fn marker_in(ran: &Path, prefix: &str) -> PathBuf {
    ran.join(format!("marker-{prefix}"))
}

fn read_events(watch: &OwnedFd, counts: &Mutex<RunCounts>, stop: &AtomicBool) {
    let mut buffer = vec![MaybeUninit::uninit(); 64 * 1024];
    let mut reader = Reader::new(watch, &mut buffer);
    while !stop.load(Ordering::Relaxed) {
        let event = match reader.next() {
            Ok(event) => event,
            Err(Errno::AGAIN) => {
                std::thread::sleep(Duration::from_millis(3));
                continue;
            }
            Err(errno) => panic!("inotify: {errno}"),
        };
        let flags = event.events();
        assert!(!flags.contains(inotify::ReadFlags::QUEUE_OVERFLOW), "runs went by uncounted");
        // A killed tool closes the file too. Its creator closed it after writing: another event.
        if !flags.contains(inotify::ReadFlags::CLOSE_NOWRITE) {
            continue;
        }
        // An event of the directory itself has no name.
        if let Some(name) = event.file_name() {
            *counts.lock().unwrap().entry(name.to_str().unwrap().to_owned()).or_default() += 1;
        }
    }
}
