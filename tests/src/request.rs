//! Valid requests, approved now, for one run each. A test changes only the part it is about.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug)]
pub struct SavedRequest {
    pub id: String,
    pub path: PathBuf,
    pub inputs: PathBuf,
}

/// The content of a request file.
#[must_use]
pub struct RequestText {
    pub id: String,
    now: String,
    language: &'static str,
    command: String,
    inputs: Vec<(String, Vec<u8>)>,
    outputs: Vec<String>,
    cpu: &'static str,
    memory_mb: u32,
    time_sec: u32,
    edits: Vec<(String, String)>,
    /// New values of lines of the front matter, by key.
    lines: Vec<(&'static str, String)>,
}

fn output_of(command: &mut Command, input: &[u8]) -> String {
    use std::io::Write;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

fn sha256(bytes: &[u8]) -> String {
    output_of(&mut Command::new("sha256sum"), bytes)[..64].to_owned()
}

impl RequestText {
    /// A request that runs `script.py`, its only input.
    pub fn python(script: &str) -> Self {
        Self::of("python", "python script.py").input("script.py", script)
    }

    /// A request that runs a command in a language, without inputs.
    pub fn of(language: &'static str, command: &str) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let stamps = output_of(Command::new("date").args(["-u", "+%Y%m%d-%H%M%SZ %FT%TZ"]), b"");
        let (stamp, now) = stamps.trim().split_once(' ').unwrap();
        Self {
            id: format!("TR-{stamp}-test-{}-{count}", std::process::id()),
            now: now.to_owned(),
            language,
            command: command.to_owned(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            cpu: "1",
            memory_mb: 256,
            time_sec: 20,
            edits: Vec::new(),
            lines: Vec::new(),
        }
    }

    pub fn input(mut self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.inputs.push((name.to_owned(), content.as_ref().to_owned()));
        self
    }

    /// Adds an expected output.
    pub fn output(mut self, path: &str) -> Self {
        self.outputs.push(path.to_owned());
        self
    }

    pub fn command(mut self, command: &str) -> Self {
        command.clone_into(&mut self.command);
        self
    }

    pub fn cpu(mut self, cores: &'static str) -> Self {
        self.cpu = cores;
        self
    }

    pub fn time_sec(mut self, seconds: u32) -> Self {
        self.time_sec = seconds;
        self
    }

    pub fn memory_mb(mut self, mebibytes: u32) -> Self {
        self.memory_mb = mebibytes;
        self
    }

    /// Replaces `from` in the finished text, which must contain it.
    pub fn edit(mut self, from: &str, to: &str) -> Self {
        self.edits.push((from.to_owned(), to.to_owned()));
        self
    }

    /// Replaces the value of a key of the front matter.
    pub fn line(mut self, key: &'static str, value: &str) -> Self {
        self.lines.push((key, value.to_owned()));
        self
    }

    #[must_use]
    #[track_caller]
    pub fn text(&self) -> String {
        let (id, now) = (&self.id, &self.now);
        let (mut inputs, mut input_list) = (String::new(), String::new());
        for (name, content) in &self.inputs {
            let hash = sha256(content);
            write!(inputs, "\n  - name: \"{name}\"\n    sha256: \"{hash}\"").unwrap();
            writeln!(input_list, "- /in/{name}").unwrap();
        }
        let (mut outputs, mut output_list) = (String::new(), String::new());
        for path in &self.outputs {
            write!(outputs, "\n  - path: \"{path}\"\n    description: \"a result\"").unwrap();
            writeln!(output_list, "- /out/{path}").unwrap();
        }
        let or = |list: String, none: &str| if list.is_empty() { none.to_owned() } else { list };
        let (inputs, outputs) = (or(inputs, " []"), or(outputs, " []"));
        let (input_list, output_list) = (or(input_list, "None.\n"), or(output_list, "None.\n"));
        let Self { language, command, cpu, memory_mb, time_sec, .. } = self;
        let mut text = format!(
            "---\nrequest_type: tool_request\nschema_version: 1\nrequest_id: \"{id}\"\n\
             created_utc: \"{now}\"\nrequested_by: \"human\"\napproved_by: \"tester\"\n\
             approved_utc: \"{now}\"\npurpose: \"A test.\"\nlanguage: \"{language}\"\n\
             network: \"none\"\nnetwork_allowlist: []\ncpu_limit: \"{cpu}\"\n\
             memory_limit_mb: {memory_mb}\ntime_limit_sec: {time_sec}\ninputs:{inputs}\n\
             outputs_expected:{outputs}\nconstraints:\n  - \"No network unless allowlisted\"\n  \
             - \"No writes outside /out\"\n  - \"No persistence\"\n---\n\n# A test\n\n\
             ## Command\n\n{command}\n\n## Input Files\n\n{input_list}\n\
             ## Output Expectations\n\n{output_list}\n## Risk Assessment\n\n- Risk level: low\n\
             - Justification: it is a test.\n- Data sensitivity: public\n- Network rationale: none\n"
        );
        for (from, to) in &self.edits {
            assert!(text.contains(from), "{from:?} is not in\n{text}");
            text = text.replacen(from, to, 1);
        }
        for (key, value) in &self.lines {
            let begin = text.find(&format!("\n{key}: ")).unwrap() + 1;
            let end = begin + text[begin..].find('\n').unwrap();
            text.replace_range(begin..end, &format!("{key}: {value}"));
        }
        text
    }

    /// Writes the request and its inputs, readable by every user.
    #[must_use]
    #[track_caller]
    pub fn save(&self, place: &Path) -> SavedRequest {
        let readable = |path: &Path, mode| {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        let inputs = place.join(format!("{}.inputs", self.id));
        if !self.inputs.is_empty() {
            fs::create_dir(&inputs).unwrap();
            readable(&inputs, 0o755);
        }
        for (name, content) in &self.inputs {
            fs::write(inputs.join(name), content).unwrap();
            readable(&inputs.join(name), 0o644);
        }
        let path = place.join(format!("{}.md", self.id));
        fs::write(&path, self.text()).unwrap();
        readable(&path, 0o644);
        SavedRequest { id: self.id.clone(), path, inputs }
    }
}
