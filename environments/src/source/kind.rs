//! The kinds of sources, and their detection by name. Detection must never read a file.

use std::path::Path;

model::closed_set! {
    /// A kind of source.
    pub enum SourceKind {
        /// Requirements of pip, each with its hashes.
        Requirements = "requirements",
        /// The lock file of uv, beside its `pyproject.toml`.
        UvLock = "uv-lock",
        /// The lock file of npm, beside its `package.json`.
        PackageLock = "package-lock",
        /// A directory with an image in the layout of OCI.
        OciLayout = "oci-layout",
        /// An archive with an image, as `docker save` writes it.
        DockerArchive = "docker-archive",
        /// A list of Debian packages.
        Debian = "debian",
        /// A directory that is copied.
        Directory = "directory",
    }
}

/// File names, and endings of them, of each kind of file.
const NAMES: [(&str, SourceKind); 5] = [
    ("uv.lock", SourceKind::UvLock),
    ("package-lock.json", SourceKind::PackageLock),
    (".txt", SourceKind::Requirements),
    (".tar", SourceKind::DockerArchive),
    (".debian", SourceKind::Debian),
];

impl SourceKind {
    /// Returns true if the source lists Python packages, which are built for one interpreter.
    #[must_use]
    pub fn has_python_packages(self) -> bool {
        matches!(self, Self::Requirements | Self::UvLock)
    }

    /// Returns the kind of a source by its name, or `None` for another name.
    #[must_use]
    pub fn detect(source: &Path) -> Option<Self> {
        if source.is_dir() {
            let is_image = source.join("oci-layout").is_file();
            return Some(if is_image { Self::OciLayout } else { Self::Directory });
        }
        let name = source.file_name()?.to_str()?;
        let ends = |known: &str| known.starts_with('.') && name.ends_with(known);
        let is_named = |known: &str| known == name || ends(known);
        NAMES.iter().find(|(known, _)| is_named(known)).map(|(_, kind)| *kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_is_detected_by_the_name() {
        let kind = |name: &str| SourceKind::detect(Path::new(name)).map(SourceKind::as_str);
        assert_eq!(kind("/nowhere/requirements-test.txt"), Some("requirements"));
        assert_eq!(kind("/nowhere/uv.lock"), Some("uv-lock"));
        assert_eq!(kind("/nowhere/package-lock.json"), Some("package-lock"));
        assert_eq!(kind("/nowhere/jq.tar"), Some("docker-archive"));
        assert_eq!(kind("/nowhere/media.debian"), Some("debian"));
        for other in ["/nowhere/Cargo.lock", "/nowhere/tsconfig.json", "/nowhere/requirements"] {
            assert_eq!(kind(other), None, "{other}");
        }
    }
}
