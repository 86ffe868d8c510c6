//! The content of `approved/` when a daemon is started to be killed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::run_counter::RunCounter;
use crate::request::RequestText;
use crate::service::Service;

/// The expected fate of a submitted file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CrashFileKind {
    Success,
    Failing,
    /// The request is not approved.
    Refused,
    /// The file is a symbolic link, which can never be a request.
    Link,
}

impl CrashFileKind {
    pub const ALL: [Self; 4] = [Self::Success, Self::Failing, Self::Refused, Self::Link];

    /// Returns true if the tool may be started.
    #[must_use]
    pub fn runs(self) -> bool {
        matches!(self, Self::Success | Self::Failing)
    }
}

#[derive(Clone, Debug)]
pub struct CrashFile {
    pub kind: CrashFileKind,
    /// The request's id, or the stem of the object's name.
    pub id: String,
}

impl CrashFile {
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}.md", self.id)
    }
}

/// The expectations of the daemon, depending on its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostCondition {
    /// All system calls succeed until the daemon is killed.
    Healthy,
    /// A system call fails. The daemon may then refuse a valid request, and leave inputs that it
    /// cannot remove. It must still run nothing twice and record every request once.
    Faulty,
}

#[derive(Clone, Debug)]
pub struct CrashScene {
    pub members: Vec<CrashFile>,
    pub host: HostCondition,
}

impl CrashScene {
    /// Submits one file of each kind to a spool. The last step of each is a rename.
    #[must_use]
    pub fn submit(service: &Service<'_>, counted: &RunCounter, kinds: &[CrashFileKind]) -> Self {
        let members = kinds.iter().map(|kind| submit_one(service, counted, *kind)).collect();
        Self { members, host: HostCondition::Healthy }
    }

    /// Returns true if all files have left `approved/` and no claim is in progress.
    #[must_use]
    pub fn is_settled(&self, service: &Service<'_>) -> bool {
        let gone = |member: &CrashFile| {
            fs::symlink_metadata(service.path("approved").join(member.file_name())).is_err()
        };
        self.members.iter().all(gone)
            && crate::scratch::list(&service.path("work")).is_empty()
            && service.visible_results().len() >= self.members.len()
    }
}

fn submit_one(service: &Service<'_>, counted: &RunCounter, kind: CrashFileKind) -> CrashFile {
    let aside = service.path("aside");
    fs::create_dir_all(&aside).unwrap();
    let text = RequestText::python("the tool does not read it");
    let id = text.id.clone();
    let word = counted.run_argument(&id);
    let text = match kind {
        CrashFileKind::Success => text.command(&format!("python script.py {word}")),
        CrashFileKind::Failing => text.command(&format!("python script.py {word} fail")),
        CrashFileKind::Refused => text
            .command(&format!("python script.py {word}"))
            .edit("approved_by: \"tester\"", "approved_by: \"\""),
        CrashFileKind::Link => {
            symlink("/nowhere", service.path("approved").join(format!("{id}.md"))).unwrap();
            return CrashFile { kind, id };
        }
    };
    let saved = text.save(&aside);
    for path in [&saved.inputs, &saved.path] {
        move_into(path, &service.path("approved"));
    }
    CrashFile { kind, id }
}

fn move_into(path: &Path, directory: &Path) {
    fs::rename(path, directory.join(path.file_name().unwrap())).unwrap();
}

/// Configures a daemon for crash tests: no heartbeats, which would change the log without a reason,
/// and the lines of `TOOLEXEC_PROOF_CONFIG` (separated by `;`), such as `runs_max: 8`.
pub fn configure_for_crash_tests(service: &Service<'_>) {
    service.configure("log: {heartbeat_sec: 0}");
    for line in std::env::var("TOOLEXEC_PROOF_CONFIG").unwrap_or_default().split(';') {
        if !line.trim().is_empty() {
            service.configure(line.trim());
        }
    }
}
