//! Standing approvals that are valid now, and requests that use them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::bench::{Bench, CliOutput};
use crate::request::{RequestText, SavedRequest};
use crate::ssh_keygen::sign_file;

/// The host of every test that uses standing approvals: `log: {origin: host1.example}`.
pub const STANDING_HOST: &str = "host1.example";
pub const STANDING_NAMESPACE: &str = "standing.tool-exec@threegate";

/// The content of a standing approval for `python script.py {last}` with the script as fixed input.
#[derive(Clone)]
#[must_use]
pub struct StandingText {
    pub id: String,
    now: String,
    end: String,
    script: String,
    edits: Vec<(String, String)>,
}

/// A standing approval on the disk.
#[derive(Clone, Debug)]
pub struct SavedStanding {
    pub id: String,
    pub path: PathBuf,
    approved: String,
}

fn output_of(command: &mut Command) -> String {
    let output = CliOutput::of(command);
    output.assert_code(0);
    output.stdout
}

impl StandingText {
    /// Admits `last` from 1 to 100, for one day.
    pub fn of_script(script: &str) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let stamps = output_of(Command::new("date").args(["-u", "+%Y%m%d-%H%M%SZ %FT%TZ"]));
        let end = output_of(Command::new("date").args(["-u", "-d", "+1 day", "+%FT%TZ"]));
        let (stamp, now) = stamps.trim().split_once(' ').unwrap();
        Self {
            id: format!("SA-{stamp}-test-{}-{count}", std::process::id()),
            now: now.to_owned(),
            end: end.trim().to_owned(),
            script: script.to_owned(),
            edits: Vec::new(),
        }
    }

    /// Replaces `from` in the finished text, which must contain it.
    pub fn edit(mut self, from: &str, to: &str) -> Self {
        self.edits.push((from.to_owned(), to.to_owned()));
        self
    }

    #[must_use]
    #[track_caller]
    pub fn text(&self) -> String {
        let Self { id, now, end, script, .. } = self;
        // The digest as the text of a request has it.
        let request = RequestText::python(script).text();
        let digest = request.split("sha256: \"").nth(1).unwrap()[..64].to_owned();
        let mut text = format!(
            "---\nrequest_type: standing_approval\nschema_version: 1\nstanding_id: \"{id}\"\n\
             created_utc: \"{now}\"\napproved_by: \"tester\"\napproved_utc: \"{now}\"\n\
             purpose: \"A test.\"\nx-audience: \"{STANDING_HOST}\"\nagents: [\"core\"]\n\
             subject: null\nnot_before_utc: \"{now}\"\nnot_after_utc: \"{end}\"\nuses_max: 100\n\
             uses_per_hour_max: 100\nlanguage: \"python\"\nenvironment: null\nnetwork: \"none\"\n\
             network_allowlist: []\ncpu_limit: \"1\"\nmemory_limit_mb: 256\ntime_limit_sec: 20\n\
             inputs_bytes_max: 1048576\nruns_code_of_inputs: false\ninputs:\n  \
             - name: \"script.py\"\n    sha256: \"{digest}\"\nparameters:\n  \
             - name: \"last\"\n    integer: [1, 100]\noutputs_expected: []\nrisk: \"low\"\n\
             sensitivity: \"public\"\nconstraints:\n  - \"No network unless allowlisted\"\n  \
             - \"No writes outside /out\"\n  - \"No persistence\"\nexamples:\n  \
             - admitted: true\n    words: [python, script.py, \"7\"]\n    files: []\n  \
             - admitted: false\n    words: [python, script.py, \"0\"]\n    files: []\n---\n\n\
             # A test\n\n## Command\n\n- python\n- script.py\n- {{last}}\n\n## Widest Effect\n\n\
             The script runs with a number from 1 to 100.\n"
        );
        for (from, to) in &self.edits {
            assert!(text.contains(from), "{from:?} is not in\n{text}");
            text = text.replacen(from, to, 1);
        }
        text
    }

    /// Writes the file, readable by every user.
    #[must_use]
    #[track_caller]
    pub fn save(&self, place: &Path) -> SavedStanding {
        let path = place.join(format!("{}.md", self.id));
        fs::write(&path, self.text()).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        SavedStanding { id: self.id.clone(), path, approved: self.now.clone() }
    }
}

impl SavedStanding {
    /// Makes the key of the approver `tester`. Returns it with its `allowed_signers` file.
    #[must_use]
    #[track_caller]
    pub fn make_approver(bench: &Bench) -> (PathBuf, PathBuf) {
        let key = bench.home().join("approver");
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]).arg(&key);
        CliOutput::of(&mut command).assert_code(0);
        let public = fs::read_to_string(key.with_extension("pub")).unwrap();
        let signers = bench.scratch().file("allowed_signers", format!("tester {public}"));
        (key, signers)
    }

    /// Signs the file as `<file>.sig` with `ssh-keygen`.
    #[track_caller]
    pub fn sign(&self, namespace: &str, key: &Path) {
        sign_file(namespace, key, &self.path);
    }

    /// Copies the file and its signatures into a directory, the file last.
    #[track_caller]
    pub fn place_in(&self, directory: &Path) {
        let name = self.path.file_name().unwrap().to_str().unwrap();
        for entry in fs::read_dir(self.path.parent().unwrap()).unwrap() {
            let entry = entry.unwrap();
            let other = entry.file_name().into_string().unwrap();
            if other.starts_with(name) && other.ends_with(".sig") {
                fs::copy(entry.path(), directory.join(other)).unwrap();
            }
        }
        let hidden = directory.join(format!(".{name}"));
        fs::copy(&self.path, &hidden).unwrap();
        fs::rename(hidden, directory.join(name)).unwrap();
    }

    /// Returns `SA-…@sha256:…`.
    #[must_use]
    pub fn reference(&self) -> String {
        let digest = output_of(Command::new("sha256sum").arg(&self.path));
        format!("{}@sha256:{}", self.id, &digest[..64])
    }

    /// Turns a request into one that uses this standing approval, for the agent `core`.
    pub fn used_by(&self, request: RequestText) -> RequestText {
        let approved = &self.approved;
        request
            .edit("approved_by: \"tester\"", &format!("approved_by: \"standing {}\"", self.id))
            .line("approved_utc", &format!("\"{approved}\""))
            .edit(
                "constraints:\n",
                &format!(
                    "x-audience: \"{STANDING_HOST}\"\nx-agent: {{name: \"core\", subject: \
                     \"wf-1\"}}\nx-standing: \"{}\"\nconstraints:\n",
                    self.reference()
                ),
            )
    }

    /// Returns a use of the script with this value of `last`.
    pub fn use_of(&self, script: &str, last: &str) -> RequestText {
        self.used_by(RequestText::python(script).command(&format!("python script.py {last}")))
    }

    /// Saves a request and moves it into a directory, the request file last.
    #[track_caller]
    pub fn place_use(request: &RequestText, aside: &Path, directory: &Path) -> SavedRequest {
        let saved = request.save(aside);
        for path in [&saved.inputs, &saved.path] {
            fs::rename(path, directory.join(path.file_name().unwrap())).unwrap();
        }
        saved
    }
}
