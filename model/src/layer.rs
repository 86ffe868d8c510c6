//! The vocabulary of confinement: layers, limits, mechanisms, and reasons to reject an output file.
//! The launcher and its client send the values as positions: add a new one at the end of its set.

crate::closed_set! {
    /// The launcher's mode, which determines the tool's uid on the host.
    pub enum LauncherMode {
        /// The launcher is root: each tool has its own uid.
        System = "system",
        /// The launcher is an ordinary user: the tool has that user's uid, in user namespaces.
        User = "user",
    }
}

crate::closed_set! {
    /// A layer of confinement, by its name in policies and refusals (`layer.<name>`).
    pub enum Layer {
        /// A user namespace, which an ordinary user needs for all other layers.
        UserNamespace = "user_namespace",
        /// The other namespaces.
        Namespaces = "namespaces",
        /// The root file system of the sandbox.
        Mounts = "mounts",
        /// Rules on files and TCP ports.
        Landlock = "landlock.fs",
        /// Filters on system calls.
        Seccomp = "seccomp",
        /// Dropped capabilities.
        Capabilities = "capabilities",
        /// Limits by cgroup.
        Cgroup = "cgroup",
    }
}

crate::closed_set! {
    /// A limit that the kernel or the launcher enforces.
    pub enum LimitName {
        /// Wall-clock time, milliseconds.
        WallMs = "wall_ms_max",
        /// Processor time, milliseconds.
        CpuMs = "cpu_ms_max",
        /// Processor bandwidth, thousandths of one core.
        CpuMilli = "cpu_milli",
        /// Memory of the whole process tree, bytes.
        MemoryBytes = "memory_bytes_max",
        /// Processes and threads.
        Pids = "pids_max",
        /// Open files of each process.
        OpenFiles = "open_files_max",
        /// Size of one file, bytes.
        FileBytes = "file_bytes_max",
        /// Size of `/out`, bytes.
        OutBytes = "out_bytes_max",
        /// Size of `/tmp`, bytes.
        TmpBytes = "tmp_bytes_max",
        /// Size of `/dev/shm`, bytes.
        ShmBytes = "shm_bytes_max",
        /// Files and directories in `/out`.
        OutInodes = "out_inodes_max",
    }
}

crate::closed_set! {
    /// The mechanism that enforces a limit.
    pub enum Mechanism {
        /// A cgroup of version 1.
        CgroupV1 = "cgroup v1",
        /// Limits and counts of v1. The process tree starts in a cgroup of v2 as well, through
        /// which all of it can be killed at once.
        CgroupV1AndV2 = "cgroup v1 and v2",
        /// A cgroup of version 2.
        CgroupV2 = "cgroup v2",
        /// A resource limit of each process.
        Rlimit = "rlimit",
        /// The launcher samples every few milliseconds and kills the process tree.
        Sampled = "sampled",
        /// The set of processors that the process tree may use.
        Affinity = "affinity",
        /// A timer of the launcher.
        Timer = "timer",
        /// Size options of the tmpfs.
        Tmpfs = "tmpfs",
    }
}

crate::closed_set! {
    /// The reason why an object in `/out` was rejected.
    pub enum RejectReason {
        /// A symbolic link.
        Symlink = "symlink",
        /// A file with more than one link.
        Hardlink = "hardlink",
        /// A named pipe.
        Fifo = "fifo",
        /// A socket.
        Socket = "socket",
        /// A device.
        Device = "device",
        /// A name that is not UTF-8.
        NameNotUtf8 = "name-not-utf8",
        /// A name with a deceptive character.
        NameControl = "name-control",
        /// A name that is too long.
        NameTooLong = "name-too-long",
        /// A path with too many directories.
        TooDeep = "too-deep",
        /// A file above the maximum number of files.
        TooMany = "too-many",
        /// A file that exceeds the maximum number of bytes.
        TooBig = "too-big",
        /// A file whose size exceeds the capacity of `/out`.
        Sparse = "sparse",
        /// An unreadable file.
        Unreadable = "unreadable",
        /// A path that TOOL-EXEC itself writes, or that git refuses.
        Reserved = "reserved",
    }
}
