//! Outcomes of a run. `sandbox` derives the outcome from the facts of a run.

crate::closed_set! {
    /// The outcome of a run.
    pub enum Outcome {
        /// The tool exited with 0, and everything in `/out` was collected.
        Ok = "ok",
        /// The tool exited with this code, 1 to 255.
        ExitNonzero(u8: 1) = "exit_nonzero",
        /// This signal ended the tool. No limit of ours sent it.
        Signal(u8: 1) = "signal",
        /// The tool exceeded its wall-clock limit.
        WallLimit = "wall_limit",
        /// The tool exceeded its processor time.
        CpuLimit = "cpu_limit",
        /// The tool exceeded its memory limit.
        MemoryLimit = "memory_limit",
        /// The tool needed more processes than its limit.
        PidsLimit = "pids_limit",
        /// The tool exceeded an output limit.
        OutputLimit = "output_limit",
        /// The tool exited with 0, but something in `/out` was rejected or could not be collected.
        OutputRejected = "output_rejected",
        /// The tool made a system call that only a sandbox escape needs.
        SeccompViolation = "seccomp_violation",
        /// An operator or the client ended the run.
        Cancelled = "cancelled",
        /// The sandbox could not be built; the tool never started.
        SetupError = "setup_error",
        /// The request was not accepted; the tool never started.
        Refused = "refused",
        /// The host or the launcher failed after the start; the end of the run is unknown.
        Indeterminate = "indeterminate",
    }
}
