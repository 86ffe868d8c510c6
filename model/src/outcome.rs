//! How a run ended. This is the type only: `sandbox` decides which outcome the facts of a run have.

crate::closed_set! {
    /// How a run ended.
    pub enum Outcome {
        /// The tool ended by itself with 0, and everything in `/out` was collected.
        Ok = "ok",
        /// The tool ended by itself with this code, 1 to 255.
        ExitNonzero(u8: 1) = "exit_nonzero",
        /// The tool was ended by this signal, which no limit of ours sent.
        Signal(u8: 1) = "signal",
        /// The tool ran longer than it may.
        WallLimit = "wall_limit",
        /// The tool used more processor time than it may.
        CpuLimit = "cpu_limit",
        /// The tool used more memory than it may.
        MemoryLimit = "memory_limit",
        /// The tool needed more processes than it may have.
        PidsLimit = "pids_limit",
        /// The tool wrote more than it may.
        OutputLimit = "output_limit",
        /// The tool ended well, but something in `/out` was refused or could not be collected.
        OutputRejected = "output_rejected",
        /// The tool made a call that only an attempt to leave the sandbox makes.
        SeccompViolation = "seccomp_violation",
        /// An operator or the client ended the run.
        Cancelled = "cancelled",
        /// The sandbox could not be made; the tool never started.
        SetupError = "setup_error",
        /// The request was not accepted; the tool never started.
        Refused = "refused",
        /// The host died, or the launcher was lost, after the start: the end is unknown.
        Indeterminate = "indeterminate",
    }
}
