//! The lines to compare: written, generated, and from the host's scripts. Data that must never run.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::generator::Generator;
use super::oracles::leaves_body;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum LineOrigin {
    /// Realistic command lines, all of them simple.
    Corpus,
    Generated,
    /// Scripts of this host. They differ between hosts, which only widens the test.
    Host,
}

const GENERATED: usize = 12_000;
const HOST_MAX: usize = 10_000;
const LINE_MAX: usize = 500;
const PLACES: [&str; 5] = ["/etc/init.d", "/usr/bin", "/usr/sbin", "/usr/share", "/usr/lib"];

pub(crate) fn corpus() -> Vec<String> {
    include_str!("corpus.txt").lines().map(str::to_owned).collect()
}

/// Returns every line once, in an order that depends only on the host's files.
pub(crate) fn all() -> Vec<(LineOrigin, String)> {
    let corpus = corpus();
    let mut generator = Generator::new(0x70_6f_73_69_78, &corpus);
    let generated: Vec<String> = (0..GENERATED).map(|_| generator.line()).collect();
    let mut seen = HashSet::new();
    let mut lines = Vec::new();
    let host = host();
    for (origin, lines_of) in
        [(LineOrigin::Corpus, corpus), (LineOrigin::Generated, generated), (LineOrigin::Host, host)]
    {
        for line in lines_of {
            // In a document, a final carriage return belongs to the line ending.
            let usable = !line.trim().is_empty() && !line.contains(['\r', '\0']);
            if usable && !leaves_body(&line) && seen.insert(line.clone()) {
                lines.push((origin, line));
            }
        }
    }
    lines
}

fn host() -> Vec<String> {
    let mut scripts = Vec::new();
    for place in PLACES {
        find(Path::new(place), 0, &mut scripts);
    }
    scripts.sort();
    let mut lines = Vec::new();
    let mut seen = HashSet::new();
    for script in scripts {
        let Ok(text) = std::fs::read_to_string(&script) else { continue };
        for line in text.lines().filter(|line| line.len() < LINE_MAX) {
            if lines.len() < HOST_MAX && !line.trim().is_empty() && seen.insert(line.to_owned()) {
                lines.push(line.to_owned());
            }
        }
    }
    lines
}

/// Finds shell scripts below this directory by their first line.
fn find(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    const DEPTH_MAX: usize = 5;
    const FOUND_MAX: usize = 400;
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let Ok(kind) = path.symlink_metadata().map(|data| data.file_type()) else { continue };
        if found.len() >= FOUND_MAX {
            return;
        } else if kind.is_dir() && depth < DEPTH_MAX {
            find(&path, depth + 1, found);
        } else if kind.is_file() && is_script(&path) {
            found.push(path);
        }
    }
}

fn is_script(path: &Path) -> bool {
    use std::io::Read;
    let mut head = [0_u8; 32];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut head));
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let first = String::from_utf8_lossy(first);
    read.is_ok() && first.starts_with("#!") && first.trim_end_matches([' ', '\0']).ends_with("sh")
        || read.is_ok() && first.starts_with("#!") && first.contains("sh -")
}
