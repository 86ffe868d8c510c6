//! A directory of a test, deleted with its content.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) struct TestDirectory(PathBuf);

impl TestDirectory {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("toolexec-microvm-{name}-{}", std::process::id());
        let directory = Self(std::env::temp_dir().join(name));
        fs::create_dir(directory.path()).unwrap();
        directory
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a new file, whose space the file system must know.
    pub(crate) fn file(&self, name: &str, content: &[u8]) -> File {
        let mut file = File::create_new(self.path().join(name)).unwrap();
        file.write_all(content).unwrap();
        file.sync_all().unwrap();
        file
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        fs::remove_dir_all(self.path()).unwrap();
    }
}
