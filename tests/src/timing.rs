//! Measures the time from an approved file to its durable record. A request leaves `approved/` only
//! then, so the measurement ends when the file disappears. Must never take part in what it
//! measures: requests are written beforehand, and inotify reports departures.

use std::collections::BTreeSet;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};

use crate::request::RequestText;
use crate::service::Service;

/// A test fails if no request leaves for this long.
const STUCK_AFTER_SEC: i64 = 60;

/// A list of durations, with percentiles.
#[derive(Clone, Debug, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    pub fn add(&mut self, took: Duration) {
        self.0.push(took);
    }

    pub fn extend(&mut self, others: impl IntoIterator<Item = Duration>) {
        self.0.extend(others);
    }

    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the mean in milliseconds.
    #[must_use]
    pub fn mean_ms(&self) -> f64 {
        let count = u32::try_from(self.0.len()).unwrap();
        (self.0.iter().sum::<Duration>() / count).as_secs_f64() * 1e3
    }

    /// Returns a percentile in milliseconds, by nearest rank.
    #[must_use]
    pub fn ms_at(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted[rank - 1].as_secs_f64() * 1e3
    }
}

/// Requests prepared in a directory beside `approved/`; one rename submits one of them.
pub struct PreparedRequests {
    prepared_dir: PathBuf,
    approved_dir: PathBuf,
    template: RequestText,
    text: String,
    written: usize,
}

impl PreparedRequests {
    /// Requests of a static program that does nothing, for the spool of a service.
    #[must_use]
    pub fn of(service: &Service<'_>) -> Self {
        Self::for_spool(&service.spool())
    }

    /// Requests for any directory that has an `approved/`.
    #[must_use]
    pub fn for_spool(spool: &Path) -> Self {
        let template = RequestText::of("python", "python -V");
        let (text, aside) = (template.text(), spool.join("aside"));
        fs::create_dir_all(&aside).unwrap();
        Self {
            prepared_dir: aside,
            approved_dir: spool.join("approved"),
            template,
            text,
            written: 0,
        }
    }

    fn write(&mut self, directory: &Path) -> String {
        self.written += 1;
        let id = format!("{}-{}", self.template.id, self.written);
        let name = format!("{id}.md");
        fs::write(directory.join(&name), self.text.replace(&self.template.id, &id)).unwrap();
        name
    }

    /// Writes `count` requests and returns their names.
    #[must_use]
    pub fn prepare(&mut self, count: usize) -> Vec<String> {
        let aside = self.prepared_dir.clone();
        (0..count).map(|_| self.write(&aside)).collect()
    }

    /// Writes `count` requests directly into `approved/`. No daemon may be watching it.
    pub fn write_waiting(&mut self, count: usize) {
        let into = self.approved_dir.clone();
        for _ in 0..count {
            self.write(&into);
        }
    }

    pub fn submit_one(&self, name: &str) {
        fs::rename(self.prepared_dir.join(name), self.approved_dir.join(name)).unwrap();
    }

    /// Submits `count` requests one after the other and waits for each, so that caches are warm.
    pub fn submit_warm_up(&mut self, count: usize) {
        for _ in 0..count {
            assert_eq!(self.submit_timed(1).0.len(), 1);
        }
    }

    /// Submits `count` requests at once. Returns the time until each left, and the total time.
    #[must_use]
    pub fn submit_timed(&mut self, count: usize) -> (Vec<Duration>, Duration) {
        let names = self.prepare(count);
        let mut departures = Departures::of(&self.approved_dir);
        let begun = Instant::now();
        for name in &names {
            self.submit_one(name);
        }
        let mut waiting: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let mut took = Vec::new();
        while !waiting.is_empty() {
            let left = departures.wait();
            if waiting.remove(left.as_str()) {
                took.push(begun.elapsed());
            }
        }
        (took, begun.elapsed())
    }
}

/// The names of files that leave a directory, in order.
pub struct Departures {
    watch: OwnedFd,
    buffer: Vec<MaybeUninit<u8>>,
    departed: std::collections::VecDeque<String>,
}

impl Departures {
    #[must_use]
    pub fn of(directory: &Path) -> Self {
        let watch = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
        let flags = WatchFlags::MOVED_FROM | WatchFlags::DELETE;
        inotify::add_watch(&watch, directory, flags).unwrap();
        Self { watch, buffer: vec![MaybeUninit::uninit(); 64 * 1024], departed: [].into() }
    }

    /// Waits for the next file to leave.
    ///
    /// # Panics
    /// Panics if no file leaves within a minute.
    #[must_use]
    pub fn wait(&mut self) -> String {
        while self.departed.is_empty() {
            let mut polled = [PollFd::new(&self.watch, PollFlags::IN)];
            let most = Timespec { tv_sec: STUCK_AFTER_SEC, tv_nsec: 0 };
            assert_eq!(poll(&mut polled, Some(&most)), Ok(1), "nothing leaves approved/ any more");
            let mut reader = Reader::new(&self.watch, &mut self.buffer);
            loop {
                let event = reader.next().unwrap();
                let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
                self.departed.extend(name);
                if reader.is_buffer_empty() {
                    break;
                }
            }
        }
        self.departed.pop_front().unwrap()
    }
}

/// Returns the resident memory of a process in KiB.
#[must_use]
pub fn rss_kib(pid: u32) -> u64 {
    status_field(&format!("/proc/{pid}/status"), "VmRSS:")
}

/// Returns the highest resident memory of a process so far, in KiB.
#[must_use]
pub fn peak_rss_kib(pid: u32) -> u64 {
    status_field(&format!("/proc/{pid}/status"), "VmHWM:")
}

/// Returns the processor time of a process and of its threads in milliseconds: `utime` and `stime`
/// of proc_pid_stat(5), which count clock ticks.
#[must_use]
pub fn cpu_ms(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // The name is in parentheses, and may contain any character.
    let fields = stat.rsplit_once(')').unwrap().1.split_whitespace();
    let ticks: u32 = fields.skip(11).take(2).map(|it| it.parse::<u32>().unwrap()).sum();
    let per_second = u32::try_from(rustix::param::clock_ticks_per_second()).unwrap();
    f64::from(ticks) * 1e3 / f64::from(per_second)
}

/// Returns the number of voluntary context switches of all threads of a process.
#[must_use]
pub fn voluntary_switches(pid: u32) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let paths = tasks.map(|task| task.unwrap().path().join("status"));
    paths.map(|path| status_field(path.to_str().unwrap(), "voluntary_ctxt_switches:")).sum()
}

fn status_field(path: &str, name: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
    value.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Reads a number from the environment, or returns the default.
///
/// # Panics
/// Panics if the value is not a number.
#[must_use]
pub fn env_number(name: &str, shipped: usize) -> usize {
    std::env::var(name).map_or(shipped, |text| text.parse().unwrap())
}
