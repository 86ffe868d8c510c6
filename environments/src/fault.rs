//! The reasons why archives are refused, as closed sets with stable texts.

model::closed_set! {
    /// The reason why an entry of a layer is refused.
    pub enum EntryFault {
        /// A name that begins with `/`.
        AbsoluteName = "the name is absolute",
        /// A name with a part `..`.
        ParentName = "the name contains `..`",
        /// A name without a part, of something other than a directory.
        EmptyName = "the name is empty",
        /// A name that is not UTF-8.
        NameNotUtf8 = "the name is not UTF-8",
        /// A name with a control character.
        NameControl = "the name contains a control character",
        /// A name with a part that no file system can hold.
        LongPart = "a part of the name is longer than 255 bytes",
        /// A name of a file or link that ends in `/`, which some readers take for a directory.
        TrailingSlash = "the name ends in `/`, and the entry is not a directory",
        /// A long name in two extended headers, of which readers choose different ones.
        TwoNames = "two extended headers name the entry",
        /// An extended header that cannot be read.
        Extension = "the extended header is invalid",
        /// An extended header that is too long to be read.
        LongExtension = "the extended header is longer than 1 MiB",
        /// A size in the extended header that differs from the header's.
        OtherSize = "two headers give different sizes",
        /// An extended header for all entries that renames them.
        GlobalName = "an extended header for all entries sets a name or a size",
        /// A number in the header that cannot be read.
        Number = "a number in the header is invalid",
        /// Content that the kind of the entry cannot have.
        Content = "an entry of this kind must have no content",
        /// A path through a symbolic link.
        ThroughLink = "a directory of the path is a symbolic link",
        /// A path through a file.
        ThroughFile = "a directory of the path is a file",
        /// A device.
        Device = "the entry is a device",
        /// A FIFO.
        Fifo = "the entry is a FIFO",
        /// A sparse file.
        Sparse = "the entry is a sparse file",
        /// A socket, or a kind of which this reader knows nothing.
        UnknownKind = "the kind of the entry is unknown",
        /// A symbolic link without a valid target.
        Target = "the target of the link is empty, too long or not plain text",
        /// A hard link whose target is not a valid name inside the image.
        LinkOutside = "the hard link leads out of the image",
        /// A hard link whose target's path has a symbolic link.
        LinkThroughLink = "the hard link leads through a symbolic link",
        /// A hard link to a file that does not exist before it.
        LinkAbsent = "the hard link leads to a file that the image does not have before it",
        /// A hard link to a directory or link.
        LinkKind = "the hard link leads to something other than a file",
        /// A hard link to its own name.
        LinkItself = "the hard link leads to itself",
        /// A whiteout that names nothing, or is a directory of the path.
        Whiteout = "the whiteout (`.wh.`) is invalid",
        /// A whiteout that is not a file.
        WhiteoutKind = "the whiteout (`.wh.`) is not a file",
        /// A second whiteout of all entries of one directory in one layer.
        SecondWhiteout = "the layer hides all entries of this directory twice",
    }
}

model::closed_set! {
    /// The reason why an image is refused as a whole.
    pub enum ImageFault {
        /// Not a directory with an `oci-layout` file of version 1.
        Layout = "not an OCI image layout of version 1.0.0",
        /// No image at all.
        NoImage = "the archive has no image",
        /// More than one image.
        SeveralImages = "the archive has several images",
        /// An image for another system or machine.
        OtherPlatform = "the image is not for Linux on this kind of machine",
        /// A version or media type of a document that is not known.
        DocumentType = "the document has an unknown type or version",
        /// A compression or media type that is not known.
        LayerType = "the layer is neither plain nor gzip",
        /// A digest that is not SHA-256 in lower-case hexadecimal digits.
        DigestText = "the digest is not `sha256:` and 64 lower-case hexadecimal digits",
        /// Another number of layers than of their digests.
        LayerCount = "the layers and their digests differ in number, or are too many",
        /// A file of the image that does not exist.
        Absent = "the archive does not have this file",
        /// A file of the image that is a link, a directory or the like.
        NotAFile = "not a regular file",
        /// A file whose size is not the declared one.
        Size = "the size differs from the declared one",
        /// A document that is too large to be read.
        LargeDocument = "the document is larger than 4 MiB",
        /// Two files of one name in an archive.
        TwoFiles = "the archive has two files of this name",
        /// A configuration whose name is not its digest.
        ConfigName = "the configuration is not named by its SHA-256",
        /// A variable of the image that is not `NAME=VALUE`.
        Variable = "a variable of the image is not `NAME=VALUE`",
        /// An archive that is compressed as a whole.
        Packed = "the archive is compressed",
    }
}

impl ImageFault {
    /// The action that the message advises.
    pub(crate) fn help(self) -> &'static str {
        match self {
            Self::Layout => "name a directory that `skopeo copy IMAGE oci:DIRECTORY` made",
            Self::SeveralImages => "save one image only, for one kind of machine",
            Self::OtherPlatform => "fetch the image for this machine",
            Self::DocumentType => "save the image as an OCI layout or with `docker save`",
            Self::LayerType => "use gzip: `skopeo copy --dest-compress-format gzip`",
            Self::NotAFile => "save the image again, without links",
            Self::LargeDocument => "use a smaller image",
            Self::Variable => "set the variable again when you build the image",
            Self::Packed => "unpack it first, for example with `gunzip`",
            Self::NoImage
            | Self::DigestText
            | Self::LayerCount
            | Self::Absent
            | Self::Size
            | Self::TwoFiles
            | Self::ConfigName => "save the image again",
        }
    }
}

model::closed_set! {
    /// A limit of [`UnpackLimits`](crate::UnpackLimits).
    pub enum ExceededLimit {
        /// Entries of all layers, and directories made for them.
        Entries = "entries",
        /// Bytes of all layers as they unpack, and of hard links again.
        Bytes = "bytes when unpacked",
        /// Bytes of a path.
        PathBytes = "bytes in one path",
        /// Parts of a path.
        Depth = "directories in one path",
        /// Unpacked bytes for each packed byte.
        Ratio = "unpacked bytes for each packed byte",
    }
}
