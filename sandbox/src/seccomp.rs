//! The texts of `sandbox/seccomp`, compiled into the launcher. A file of that directory that is not
//! listed here would be missing from every filter and from the digest of the filters.

use model::Language;

/// One text about system calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SeccompText {
    /// The file name.
    pub file: &'static str,
    /// The content.
    pub text: &'static str,
}

macro_rules! file {
    ($file:expr) => {
        SeccompText { file: $file, text: include_str!(concat!("../seccomp/", $file)) }
    };
}

macro_rules! common {
    ($($(#[$doc:meta])* $name:ident = $file:literal;)+) => {
        $($(#[$doc])* pub(crate) const $name: SeccompText = file!($file);)+

        /// The texts that do not belong to one language.
        const COMMON: &[SeccompText] = &[$($name),+];
    };
}

common! {
    /// Calls that every program needs.
    BASE = "base.txt";
    /// Calls that only an escape attempt makes.
    ESCAPE = "escape.txt";
    /// For runs with network hosts.
    HOSTS = "hosts.txt";
    /// For runs that use the processor's virtualisation.
    KVM = "kvm.txt";
    /// Calls that are refused.
    REFUSED = "refused.txt";
    /// For memory limits enforced by sampling.
    SAMPLED = "sampled.txt";
    /// Calls that set up a sandbox.
    SETUP = "setup.txt";
}

macro_rules! of_language {
    ($(#[$about:meta])* pub enum $set:ident {
        $($(#[$doc:meta])* $name:ident = $text:literal $columns:tt,)+
    }) => {
        /// Returns the text of one language: the file with its name.
        pub(crate) const fn of(language: $set) -> SeccompText {
            match language {
                $($set::$name => file!(concat!($text, ".txt")),)+
            }
        }
    };
}

model::each_language!(of_language);

/// Returns every text, sorted by file name. Digests over all texts use this order.
#[must_use]
pub fn all() -> Vec<SeccompText> {
    let of_languages = Language::ALL.iter().map(|language| of(*language));
    let mut all: Vec<_> = COMMON.iter().copied().chain(of_languages).collect();
    all.sort_unstable_by_key(|text| text.file);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_of_the_directory_is_listed() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/seccomp");
        let mut files: Vec<_> = std::fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        assert_eq!(files, all().iter().map(|text| text.file).collect::<Vec<_>>());
        for SeccompText { file, text } in all() {
            let path = format!("{directory}/{file}");
            assert_eq!(std::fs::read_to_string(path).unwrap(), text, "{file}");
        }
    }
}
