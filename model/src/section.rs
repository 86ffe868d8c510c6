//! The sections of a result's Markdown. The writer of records, the check of results and the
//! verification of records hold to the same titles.

crate::closed_set! {
    /// A section of a result, in the order in which they follow one another.
    pub enum ResultSection {
        /// How the run ended.
        Summary = "Summary",
        /// What ran, and by which approval.
        Provenance = "Provenance",
        /// The files that the tool left.
        Outputs = "Outputs",
        /// What the tool wrote to its standard output.
        Stdout = "Stdout",
        /// What the tool wrote to its standard error.
        Stderr = "Stderr",
        /// What a reader must know before using any of it.
        SafetyNotes = "Safety Notes",
    }
}

impl ResultSection {
    /// The line of Markdown with which it begins.
    #[must_use]
    pub fn heading(self) -> String {
        format!("## {self}")
    }
}
