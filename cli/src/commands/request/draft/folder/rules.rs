//! The ignore files of a folder: `.toolexecignore`, `.gitignore` and `.git/info/exclude`, in this
//! order, and in each kind the deepest file first. Files above the folder and those of the user are
//! never read: one folder must give one digest for each user.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use model::escape_line;
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

const OWN: &str = ".toolexecignore";
const GIT: &str = ".gitignore";
const EXCLUDE: &str = ".git/info/exclude";
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The ignore files that apply to the directory at hand.
pub(super) struct FolderRules {
    /// Those of the folder and of each directory down to the one at hand.
    levels: Vec<RuleLevel>,
    exclude: Gitignore,
}

/// The ignore files of one directory.
struct RuleLevel {
    /// The length of the directory's path with its `/`.
    prefix: usize,
    own: Gitignore,
    git: Gitignore,
}

impl FolderRules {
    /// Reads the file of the repository, if the folder is one.
    pub(super) fn of(top: BorrowedFd<'_>) -> Result<Self, String> {
        Ok(Self { levels: Vec::new(), exclude: read(top, EXCLUDE, "")? })
    }

    /// Reads the files of a directory, which is one level below that of the last call.
    pub(super) fn enter(&mut self, directory: BorrowedFd<'_>, path: &str) -> Result<(), String> {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let own = read(directory, OWN, &prefix)?;
        let git = read(directory, GIT, &prefix)?;
        self.levels.push(RuleLevel { prefix: prefix.len(), own, git });
        Ok(())
    }

    /// Drops the files of the deepest directory.
    pub(super) fn leave(&mut self) {
        self.levels.pop();
    }

    /// Returns the file that leaves out an entry of the deepest directory.
    pub(super) fn file_against(&self, path: &str, is_directory: bool) -> Option<String> {
        let below = |level: &RuleLevel| path.get(level.prefix..).unwrap_or(path).to_owned();
        let deepest_first = || self.levels.iter().rev();
        let own = deepest_first().map(|level| (&level.own, below(level)));
        let git = deepest_first().map(|level| (&level.git, below(level)));
        let all = own.chain(git).chain([(&self.exclude, path.to_owned())]);
        for (rules, below) in all {
            match rules.matched(&below, is_directory) {
                Match::None => {}
                Match::Whitelist(_) => return None,
                Match::Ignore(glob) => {
                    let file = glob.from().unwrap_or(Path::new(GIT));
                    return Some(file.to_string_lossy().into_owned());
                }
            }
        }
        None
    }
}

/// Reads an ignore file below a directory. A missing one has no rules.
fn read(directory: BorrowedFd<'_>, name: &str, prefix: &str) -> Result<Gitignore, String> {
    let path = format!("{prefix}{name}");
    let shown = escape_line(&path);
    let text = match open(directory, name) {
        Ok(file) => text_of(file).map_err(|error| format!("{shown}: {error}"))?,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Gitignore::empty()),
        // The directory `.git` itself may be a link.
        Err(Errno::LOOP) if name == EXCLUDE => return Ok(Gitignore::empty()),
        Err(Errno::LOOP) => {
            return Err(format!("{shown}: a link, which is not followed; help: make it a file"));
        }
        Err(errno) => return Err(format!("{shown}: {errno}; help: check its owner and mode")),
    };
    parse(&path, &text)
}

fn open(directory: BorrowedFd<'_>, name: &str) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    openat2(directory, name, flags, Mode::empty(), beneath).map(File::from)
}

/// Returns the text of a regular file. Git does not read any other either.
fn text_of(file: File) -> io::Result<String> {
    if !file.metadata()?.is_file() {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    match u64::try_from(bytes.len()).is_ok_and(|len| len <= FILE_BYTES_MAX) {
        true => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        false => Err(io::Error::other("larger than 1 MiB; help: make it smaller")),
    }
}

/// A line that is not a pattern is refused: the entry that it meant would be copied.
fn parse(path: &str, text: &str) -> Result<Gitignore, String> {
    let mut rules = GitignoreBuilder::new("");
    let shown = escape_line(path);
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        if let Err(error) = rules.add_line(Some(PathBuf::from(path)), line) {
            let error = escape_line(&error.to_string());
            return Err(format!("{shown}:{number}: {error}; help: correct the line"));
        }
    }
    rules.build().map_err(|error| format!("{shown}: {error}; help: correct the file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(prefix: &str, own: &str, git: &str) -> RuleLevel {
        let rules = |name: &str, text| parse(&format!("{prefix}{name}"), text).unwrap();
        RuleLevel { prefix: prefix.len(), own: rules(OWN, own), git: rules(GIT, git) }
    }

    #[test]
    fn the_deepest_file_of_the_first_kind_decides() {
        let rules = FolderRules {
            levels: vec![
                level("", "secret\n", "*.o\n/target/\n!kept.o\nsub/made\n"),
                level("sub/", "", "!special.o\n/here\n"),
            ],
            exclude: parse(EXCLUDE, "notes\nsecret\n").unwrap(),
        };
        for (path, is_directory, file) in [
            ("sub/a.o", false, Some(GIT)),
            ("sub/special.o", false, None),
            ("sub/kept.o", false, None),
            ("sub/made", false, Some(GIT)),
            ("sub/here", true, Some("sub/.gitignore")),
            ("sub/target", true, None),
            ("sub/notes", false, Some(EXCLUDE)),
            ("sub/secret", false, Some(OWN)),
            ("sub/plain.c", false, None),
        ] {
            assert_eq!(rules.file_against(path, is_directory).as_deref(), file, "{path}");
        }
    }

    #[test]
    fn only_a_directory_matches_a_pattern_with_a_slash_at_its_end() {
        let levels = vec![level("", "", "/target/\n")];
        let rules = FolderRules { levels, exclude: Gitignore::empty() };
        assert_eq!(rules.file_against("target", true).as_deref(), Some(GIT));
        assert_eq!(rules.file_against("target", false), None);
    }

    #[test]
    fn a_line_that_is_not_a_pattern_is_refused() {
        let problem = parse(GIT, "fine\n{a\n").unwrap_err();
        assert!(problem.starts_with(".gitignore:2: "), "{problem}");
        assert!(problem.ends_with("; help: correct the line"), "{problem}");
    }
}
