//! Debian packages: a list of names, which `mmdebstrap` fetches and extracts without running a
//! script of any package; apt verifies Debian's signatures. The first line names the suite. Two
//! builds give equal trees if the archive has the same packages: `NAME=VERSION` and a `mirror:` of
//! snapshot.debian.org pin them. Logs, caches and the lists of apt and dpkg are removed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use model::{Sha256, Sha256Stream, quote};
use trees::{EnvironmentContent, EnvironmentKind, SourceFacts};

use super::document::SourceDocument;
use super::error::SourceError;
use super::installer::installer;
use super::kind::SourceKind;
use super::model::{BuildEvent, BuiltTree, SourceInstaller, SourceStep, SourceTools};
use super::program::{command, find, run};
use super::programs::ProgramList;
use crate::unpack::{LayerPacking, PackedLayer, UnpackMeter, UnpackedTree, unpack_layer};

const PATH: [&str; 5] = ["usr/local/bin", "usr/bin", "bin", "usr/sbin", "sbin"];
/// Directories, each with the entries that differ between two extractions.
const REMOVED: [(&str, &[&str]); 4] = [
    ("", &["tmp", "run"]),
    ("etc", &["hostname", "machine-id", "resolv.conf"]),
    ("var", &["cache", "log"]),
    ("var/lib", &["apt", "dpkg"]),
];
const LIST_HELP: &str = "write `suite: bookworm`, then one NAME or NAME=VERSION a line";

/// The packages of a list.
struct DebianList {
    suite: String,
    mirror: Option<String>,
    packages: Vec<String>,
}

/// Extracts the packages that a file names.
pub(super) fn build(
    source: &Path,
    into: &Path,
    tools: &SourceTools,
    events: &mut dyn FnMut(BuildEvent),
) -> Result<BuiltTree, SourceError> {
    events(BuildEvent::Step(SourceStep::Checking));
    let document = SourceDocument::read(source)?;
    let list = DebianList::parse(&document.name, document.text()?)?;
    events(BuildEvent::Step(SourceStep::Installing));
    let archive = tools.scratch.join("root.tar");
    let installer = fetch(&list, &archive, tools)?;
    events(BuildEvent::Step(SourceStep::Unpacking));
    unpack(&archive, into, tools, &mut |bytes| events(BuildEvent::Bytes(bytes)))?;
    for (directory, names) in REMOVED {
        remove(&into.join(directory), names)?;
    }
    let mut programs = ProgramList::of_root(into)?;
    for directory in PATH {
        programs.add(directory)?;
    }
    let path = PATH.map(|directory| format!("/{directory}")).join(":");
    let content = EnvironmentContent {
        kind: EnvironmentKind::Root,
        programs: programs.finish(events),
        variables: BTreeMap::from([("PATH".to_owned(), path)]),
        needs: BTreeMap::new(),
    };
    let kind = SourceKind::Debian.as_str().to_owned();
    let SourceDocument { name: file, sha256, .. } = document;
    let source = SourceFacts { kind, file, sha256 };
    Ok(BuiltTree { content, source, installer: Some(installer) })
}

fn fetch(
    list: &DebianList,
    archive: &Path,
    tools: &SourceTools,
) -> Result<SourceInstaller, SourceError> {
    let Some(program) = find("mmdebstrap", tools) else {
        return Err(SourceError::missing("mmdebstrap: not on PATH", "install mmdebstrap"));
    };
    let mut fetch = command(&program, tools)?;
    fetch.args(["--variant=extract", "--format=tar", "--quiet"]);
    fetch.arg(format!("--include={}", list.packages.join(",")));
    // It may work as another user, who cannot enter the draft.
    fetch.env_remove("TMPDIR").current_dir("/");
    fetch.arg(&list.suite).arg(archive).args(&list.mirror);
    run(&mut fetch, "mmdebstrap", tools)?;
    installer("mmdebstrap", &mut command(&program, tools)?, tools)
}

fn unpack(
    archive: &Path,
    into: &Path,
    tools: &SourceTools,
    progress: &mut dyn FnMut(u64),
) -> Result<(), SourceError> {
    let open = || File::open(archive).map_err(SourceError::io(archive));
    let diff_id = sha256_of(open()?).map_err(SourceError::io(archive))?;
    let meter = UnpackMeter::new(&tools.limits);
    let mut tree = UnpackedTree::open(into, &meter).map_err(SourceError::unpack(archive))?;
    let (label, packing) = ("mmdebstrap".to_owned(), LayerPacking::Plain);
    let layer = PackedLayer { label, source: open()?, packing, diff_id };
    unpack_layer(layer, &mut tree, &meter, progress).map_err(SourceError::unpack(archive))
}

fn sha256_of(mut file: File) -> std::io::Result<Sha256> {
    let (mut stream, mut buffer) = (Sha256Stream::new(), vec![0; 128 << 10]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(stream.finish()),
            read => stream.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

/// Removes entries of a directory of the tree, unless the directory is a link.
fn remove(directory: &Path, names: &[&str]) -> Result<(), SourceError> {
    let is_directory = |path: &Path| fs::symlink_metadata(path).is_ok_and(|about| about.is_dir());
    if !is_directory(directory) {
        return Ok(());
    }
    for name in names {
        let path = directory.join(name);
        let removed = match is_directory(&path) {
            true => fs::remove_dir_all(&path),
            false => fs::remove_file(&path),
        };
        match removed {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(SourceError::io(&path)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

impl DebianList {
    fn parse(file: &str, text: &str) -> Result<Self, SourceError> {
        let lines = (1..).zip(text.lines()).map(|(number, line)| {
            let line = line.split('#').next().unwrap_or_default();
            (number, line.trim())
        });
        let refused = |number: u32, line: &str, problem: &str| {
            SourceError::refused(format!("{file}:{number}: {}: {problem}", quote(line)), LIST_HELP)
        };
        let (mut suite, mut mirror, mut packages) = (None, None, Vec::new());
        for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
            if let Some(name) = line.strip_prefix("suite:").map(str::trim) {
                suite = Some(name.to_owned()).filter(|name| is_name(name));
            } else if let Some(url) = line.strip_prefix("mirror:").map(str::trim) {
                if !url.starts_with("http") || !url.chars().all(|c| c.is_ascii_graphic()) {
                    return Err(refused(number, line, "not a URL"));
                }
                mirror = Some(url.to_owned());
            } else if is_package(line) {
                packages.push(line.to_owned());
            } else {
                return Err(refused(number, line, "not a package"));
            }
        }
        match suite {
            Some(suite) if !packages.is_empty() => Ok(Self { suite, mirror, packages }),
            Some(_) => Err(SourceError::refused(format!("{file}: names no packages"), LIST_HELP)),
            None => Err(SourceError::refused(format!("{file}: names no suite"), LIST_HELP)),
        }
    }
}

fn is_name(text: &str) -> bool {
    let is_word = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '+' | '.' | '-');
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_word)
}

fn is_package(text: &str) -> bool {
    let (name, version) = text.split_once('=').unwrap_or((text, "0"));
    let is_version = |c: char| c.is_ascii_alphanumeric() || ".+:~-".contains(c);
    is_name(name) && !version.is_empty() && version.chars().all(is_version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_a_suite_and_packages() {
        let text = "# media\nsuite: bookworm\n\njq\nffmpeg=7:5.1.6-0+deb12u1  # pinned\n";
        let list = DebianList::parse("media.debian", text).unwrap();
        assert_eq!((list.suite.as_str(), list.mirror), ("bookworm", None));
        assert_eq!(list.packages, ["jq", "ffmpeg=7:5.1.6-0+deb12u1"]);
    }

    #[test]
    fn other_lines_are_refused() {
        for (text, word) in [
            ("jq\n", "names no suite"),
            ("suite: bookworm\n", "names no packages"),
            ("suite: --help\njq\n", "names no suite"),
            ("suite: bookworm\n--setup-hook=x\n", "not a package"),
            ("suite: bookworm\njq,vim\n", "not a package"),
            ("suite: bookworm\n./jq.deb\n", "not a package"),
            ("suite: bookworm\nmirror: copy:/etc\njq\n", "not a URL"),
        ] {
            let problem = DebianList::parse("media.debian", text).err();
            let problem = problem.map(|it| it.to_string()).unwrap_or_default();
            assert!(problem.contains(word), "{text}: {problem}");
        }
    }
}
