//! The registry of language runtimes. A language selects the runtime of a sandbox and its list of
//! allowed system calls. Each language is one entry here. A consumer that needs more than the entry
//! matches on [`Language`] without a wildcard.

/// Calls a macro with the registry. Each entry has the documentation of a language, its name in
/// requests and policies, and its [`RuntimeFacts`].
///
/// The name is also the name of the seccomp list: the entry `lua` does not compile without
/// `sandbox/seccomp/lua.txt`. The launcher receives a language as its position, so add a new entry
/// at the end.
#[macro_export]
macro_rules! each_language {
    ($then:ident) => {
        $then! {
            /// The language of a tool (seed 002, `language`).
            #[derive(PartialOrd, Ord, Hash)]
            pub enum Language {
                /// Python, CPython's interpreter.
                Python = "python" {
                    programs: ["python", "pypy"],
                    piped_names: ["python", "python3"],
                    extensions: [".py"],
                    packages: ["python3"],
                    needs_cache: false,
                },
                /// JavaScript, by Node.js.
                Node = "node" {
                    programs: ["node", "nodejs"],
                    piped_names: ["node"],
                    extensions: [".js", ".cjs", ".mjs"],
                    packages: ["nodejs"],
                    needs_cache: false,
                },
                /// TypeScript, by Node.js.
                Ts = "ts" {
                    programs: ["ts-node", "ts-node-esm", "tsx"],
                    piped_names: [],
                    extensions: [".ts", ".mts", ".cts"],
                    packages: ["nodejs", "npm"],
                    needs_cache: true,
                },
                /// Go, compiled in the sandbox.
                Go = "go" {
                    programs: ["go"],
                    piped_names: [],
                    extensions: [".go"],
                    packages: ["golang-go"],
                    needs_cache: true,
                },
                /// Ruby.
                Ruby = "ruby" {
                    programs: ["ruby", "jruby"],
                    piped_names: ["ruby"],
                    extensions: [".rb"],
                    packages: ["ruby"],
                    needs_cache: false,
                },
            }
        }
    };
}

/// The properties of a language's runtime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuntimeFacts {
    /// The programs that run it, in lower case, without version digits, and of no other language.
    pub programs: &'static [&'static str],
    /// The program names into which a shell pipes code (`… | python3`).
    pub piped_names: &'static [&'static str],
    /// The extensions of its files, each with its dot.
    pub extensions: &'static [&'static str],
    /// The Debian packages that install it.
    pub packages: &'static [&'static str],
    /// A host needs a cache that `toolexec doctor` builds once.
    pub needs_cache: bool,
}

macro_rules! languages {
    ($(#[$about:meta])* pub enum $set:ident {
        $($(#[$doc:meta])* $name:ident = $text:literal { $($column:ident: $value:tt,)+ },)+
    }) => {
        $crate::closed_set! {
            $(#[$about])*
            pub enum $set {
                $($(#[$doc])* $name = $text,)+
            }
        }

        impl $set {
            /// Returns the language's entry in the registry.
            #[must_use]
            pub const fn runtime(self) -> &'static RuntimeFacts {
                match self {
                    $(Self::$name => const { &RuntimeFacts { $($column: languages!(@ $value),)+ } },)+
                }
            }
        }
    };
    (@ [$($value:literal),*]) => { &[$($value),*] };
    (@ $value:literal) => { $value };
}

each_language!(languages);

impl Language {
    /// Returns the language that a program runs. The name is in lower case and without a version.
    #[must_use]
    pub fn of_program(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.runtime().programs.contains(&name))
    }

    /// Returns whether a file name has an extension of this language.
    #[must_use]
    pub fn matches_file_name(self, name: &str) -> bool {
        self.runtime().extensions.iter().any(|ending| name.ends_with(ending))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_and_an_extension_are_of_one_language() {
        for language in Language::ALL {
            let runtime = language.runtime();
            assert!(!runtime.programs.is_empty(), "{language} has no program");
            assert!(!runtime.packages.is_empty(), "{language} has no package");
            for program in runtime.programs {
                assert_eq!(Language::of_program(program), Some(*language), "{program}");
                let plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
                assert!(program.bytes().all(plain), "{program} is not looked up as it is written");
            }
            for ending in runtime.extensions {
                let of: Vec<_> =
                    Language::ALL.iter().filter(|it| it.matches_file_name(ending)).collect();
                assert_eq!(of, [language], "{ending}");
                assert!(ending.starts_with('.'), "{ending}");
            }
        }
    }
}
