//! The texts of `sandbox/seccomp`, as they are compiled into the launcher. A file of that directory
//! that is not listed here would be in no filter, and in no digest of the filters.

model::closed_set! {
    /// A text on system calls, by the name of its file. Digests of all texts go by this order.
    pub enum SeccompText {
        /// Calls that every program needs.
        Base = "base.txt",
        /// Calls that only an attempt to leave a cell makes.
        Escape = "escape.txt",
        /// For Go.
        Go = "go.txt",
        /// For runs with hosts.
        Hosts = "hosts.txt",
        /// For Node.js.
        Node = "node.txt",
        /// For Python.
        Python = "python.txt",
        /// Calls that are refused.
        Refused = "refused.txt",
        /// For Ruby.
        Ruby = "ruby.txt",
        /// Where memory is limited by sampling.
        Sampled = "sampled.txt",
        /// Calls that set a cell up.
        Setup = "setup.txt",
        /// For TypeScript.
        Ts = "ts.txt",
    }
}

impl SeccompText {
    /// The text.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Base => include_str!("../seccomp/base.txt"),
            Self::Escape => include_str!("../seccomp/escape.txt"),
            Self::Go => include_str!("../seccomp/go.txt"),
            Self::Hosts => include_str!("../seccomp/hosts.txt"),
            Self::Node => include_str!("../seccomp/node.txt"),
            Self::Python => include_str!("../seccomp/python.txt"),
            Self::Refused => include_str!("../seccomp/refused.txt"),
            Self::Ruby => include_str!("../seccomp/ruby.txt"),
            Self::Sampled => include_str!("../seccomp/sampled.txt"),
            Self::Setup => include_str!("../seccomp/setup.txt"),
            Self::Ts => include_str!("../seccomp/ts.txt"),
        }
    }
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
        assert_eq!(files, SeccompText::TEXTS);
        for text in SeccompText::ALL {
            let file = format!("{directory}/{text}");
            assert_eq!(std::fs::read_to_string(file).unwrap(), text.text(), "{text}");
        }
    }
}
