//! The rules that bytes of the database, of a store or of a submitter can break. Each text is a
//! clause of a message.

model::closed_set! {
    /// The reason why the address of a store is refused.
    pub(crate) enum StoreAddressFault {
        /// Not a URL.
        NotAnAddress = "not a URL",
        /// Another scheme. A store in memory would end with its program.
        Scheme = "only file:///DIRECTORY, s3://BUCKET, gs://BUCKET and az://CONTAINER are stores",
        /// A user, a password, a query or a fragment.
        Extra = "it must have neither a user or password nor a query or fragment",
        /// A `file:` URL that is not the path of an existing directory.
        NotADirectory = "not the absolute path of an existing directory",
        /// A path with an empty component or a relative one.
        Path = "its path is not a plain one",
        /// No bucket or container.
        NoBucket = "it names no bucket",
    }
}

model::closed_set! {
    /// The reason why a manifest is refused.
    pub(crate) enum ManifestFault {
        /// Not JSON, or with other keys or values.
        NotAManifest = "not a manifest of this version",
        /// Another text than the one that its files have.
        NotCanonical = "not in the only form that a manifest has",
        /// More than the limit.
        TooLong = "the manifest is too long",
        /// More than the limit.
        TooManyFiles = "there are too many files",
        /// The sizes together exceed the limit.
        TooManyBytes = "the files together are too large",
        /// Larger than a file of its kind may be.
        FileTooLarge = "the file is larger than one of its kind may be",
        /// Not in the order of kinds and names, or twice.
        Order = "the files are not in order, or one is named twice",
        /// A kind that does not belong here.
        Kind = "a file of this kind does not belong here",
        /// None or several.
        Documents = "there must be exactly one document",
        /// Not `<name>.md` of plain characters.
        DocumentName = "not the name of a document",
        /// Not a name beside the document.
        SignatureName = "not the name of a signature or bundle of the document",
        /// A name that no document may declare.
        InputName = "not the name of an input",
        /// A name that no file of a result has.
        ResultName = "not the name of a file in a result",
        /// A link, a device, a named pipe or a socket.
        ResultKind = "neither a regular file nor a directory",
        /// A file in the place of a directory, or within a folder, or named twice.
        Nested = "another file has the same place",
        /// An executable document or signature.
        Mode = "the file must not be executable",
        /// No file.
        Empty = "it names not one file",
        /// The blob has another length than the manifest says.
        Size = "the size is not that of its bytes",
    }
}

model::closed_set! {
    /// The reason why a folder is not packed, or its archive not unpacked.
    pub(crate) enum FolderTarFault {
        /// The archive ends early.
        Truncated = "the archive ends before its end mark",
        /// One block of zeros, then another one.
        LoneZeroBlock = "the end mark is incomplete",
        /// Bytes after the end mark.
        AfterEnd = "the archive goes on after its end mark",
        /// The sum of the header's bytes.
        Checksum = "the checksum of the header is wrong",
        /// Another format, or an older one.
        NotUstar = "the header is not a ustar header",
        /// Type `1`.
        HardLink = "it is a hard link",
        /// Types `3`, `4` and `6`; of a file system also sockets.
        Device = "it is a device, a named pipe or a socket",
        /// Type `S`.
        Sparse = "it is a sparse file",
        /// Long names, extended attributes, labels and parts of other archives.
        Extension = "it is an extended header",
        /// Any other type.
        UnknownKind = "its kind is unknown",
        /// A form that this program does not write.
        Form = "the header has another form than this program writes",
        /// Not octal.
        Number = "a number of the header is not octal",
        /// Bytes after the end of a text.
        TextField = "a text of the header has bytes after its end",
        /// No name.
        EmptyName = "the name is empty",
        /// Not UTF-8.
        NameNotUtf8 = "the name or the target of the link is not UTF-8",
        /// U+0000 to U+001F, U+007F to U+009F.
        Control = "the name or the target of the link has a control character",
        /// Begins with a slash.
        AbsoluteName = "the name is absolute",
        /// Two slashes, or one at the end.
        EmptyPart = "a part of the name is empty",
        /// `.` or `..`.
        DotPart = "a part of the name is `.` or `..`",
        /// More than a header or a file system holds.
        LongName = "the name is too long",
        /// More than a header holds.
        LongTarget = "the target of the link is too long",
        /// No target.
        EmptyTarget = "the link has no target",
        /// Absolute, or with `..` beyond its beginning or the top.
        LinkLeaves = "the link may lead out of the folder",
        /// An earlier entry has the same name.
        Duplicate = "an earlier entry has the same name",
        /// Not in the order of the names.
        Order = "the entries are not in order",
        /// No earlier directory contains it.
        NoParent = "no earlier directory contains it",
        /// An entry below a link.
        ThroughLink = "it is below a link",
        /// A directory or link with content.
        Content = "a directory or a link has content",
        /// More bytes than the archive has.
        BeyondEnd = "the content is larger than the rest of the archive",
        /// Bytes other than zero up to the next block.
        Padding = "the content is followed by bytes that belong to no file",
        /// More than the limit.
        TooManyEntries = "the folder has too many entries",
        /// More components than the limit.
        TooDeep = "the path has too many components",
        /// More bytes than the limit.
        TooManyBytes = "with it, the folder is too large",
        /// The set-user-ID or set-group-ID bit.
        SetId = "the file has a set-user-ID or set-group-ID bit",
        /// A mount point.
        OtherMount = "it is on another mount",
        /// Another size or kind than before.
        Changed = "it changed while it was read",
    }
}

/// A rule that a manifest breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ManifestProblem {
    /// The name in the manifest; empty if the fault is of the whole.
    pub(crate) name: String,
    /// The rule.
    pub(crate) fault: ManifestFault,
}

impl ManifestProblem {
    /// A fault of one file.
    pub(super) fn of(name: &str, fault: ManifestFault) -> Self {
        Self { name: name.to_owned(), fault }
    }

    /// A fault of the manifest as a whole.
    pub(super) fn of_all(fault: ManifestFault) -> Self {
        Self::of("", fault)
    }
}
