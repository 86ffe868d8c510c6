//! The vocabulary of confinement: its layers, its limits with what enforces them, and why an output
//! file is refused. Launcher and client send these values by their position, so a new one is added at
//! the end of its set.

crate::closed_set! {
    /// Who built the sandbox, and so what the tool's uid is on the host.
    pub enum Mode {
        /// The launcher was root: the tool has a uid of its own.
        System = "system",
        /// The launcher was an ordinary user: the tool has that user's uid, in user namespaces.
        User = "user",
    }
}

crate::closed_set! {
    /// A layer of confinement, by the name that policies and refusals use (`layer.<name>`).
    pub enum Layer {
        /// A user namespace, which an ordinary user needs for all others.
        UserNamespace = "user_namespace",
        /// The other namespaces.
        Namespaces = "namespaces",
        /// The root file system of the sandbox.
        Mounts = "mounts",
        /// Rules on files and TCP ports.
        Landlock = "landlock.fs",
        /// Filters on system calls.
        Seccomp = "seccomp",
        /// Capabilities that are given up.
        Capabilities = "capabilities",
        /// Limits by control group.
        Cgroup = "cgroup",
    }
}

crate::closed_set! {
    /// A limit that is in force in the kernel (or by the launcher's own watch).
    pub enum LimitName {
        /// Time by the clock, milliseconds.
        WallMs = "wall_ms_max",
        /// Time on processors, milliseconds.
        CpuMs = "cpu_ms_max",
        /// Processor bandwidth, thousandths of one core.
        CpuMilli = "cpu_milli",
        /// Memory of the whole tree, bytes.
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
    /// What enforces a limit.
    pub enum Mechanism {
        /// A control group of version 1.
        CgroupV1 = "cgroup v1",
        /// Limits and counts of v1; the tree is born in a group of the v2 tree beside it, by which all of it
        /// can be killed at once.
        CgroupV1AndV2 = "cgroup v1 and v2",
        /// A control group of version 2.
        CgroupV2 = "cgroup v2",
        /// A resource limit of each process.
        Rlimit = "rlimit",
        /// The launcher looks every few milliseconds and kills the tree.
        Sampled = "sampled",
        /// The set of processors that the tree may use.
        Affinity = "affinity",
        /// The launcher's own clock.
        Timer = "timer",
        /// Size options of the tmpfs.
        Tmpfs = "tmpfs",
    }
}

crate::closed_set! {
    /// Why an object of `/out` was not kept.
    pub enum RejectReason {
        /// A symbolic link.
        Symlink = "symlink",
        /// A file with more than one name.
        Hardlink = "hardlink",
        /// A named pipe.
        Fifo = "fifo",
        /// A socket.
        Socket = "socket",
        /// A device.
        Device = "device",
        /// Its name is not UTF-8.
        NameNotUtf8 = "name-not-utf8",
        /// A deceptive character in the name.
        NameControl = "name-control",
        /// Its name is too long.
        NameTooLong = "name-too-long",
        /// Too many directories above it.
        TooDeep = "too-deep",
        /// One more than is kept.
        TooMany = "too-many",
        /// More bytes than are kept.
        TooBig = "too-big",
        /// Claims more bytes than `/out` can hold.
        Sparse = "sparse",
        /// Could not be read.
        Unreadable = "unreadable",
    }
}
