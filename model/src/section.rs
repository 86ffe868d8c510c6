//! The sections of a result's Markdown. The record writer and all checks use the same titles.

crate::closed_set! {
    /// A section of a result, in document order.
    pub enum ResultSection {
        /// The outcome of the run.
        Summary = "Summary",
        /// The request, its approval and its environment.
        Provenance = "Provenance",
        /// The files that the tool wrote.
        Outputs = "Outputs",
        /// The tool's standard output.
        Stdout = "Stdout",
        /// The tool's standard error.
        Stderr = "Stderr",
        /// Warnings for readers of the result.
        SafetyNotes = "Safety Notes",
    }
}

impl ResultSection {
    /// Returns the section's heading as a line of Markdown.
    #[must_use]
    pub fn heading(self) -> String {
        format!("## {self}")
    }
}
