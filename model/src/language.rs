//! The languages of tools. A language is also the kind of runtime that a sandbox is made for, and the
//! list of system calls that it gets. The launcher is sent a language by its position, so a new one is
//! added at the end.

crate::closed_set! {
    /// The language of a tool (seed 002, `language`).
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Language {
        /// Python, CPython's interpreter.
        Python = "python",
        /// JavaScript, by Node.js.
        Node = "node",
        /// TypeScript, by Node.js.
        Ts = "ts",
        /// Go, compiled in the sandbox.
        Go = "go",
        /// Ruby.
        Ruby = "ruby",
    }
}
