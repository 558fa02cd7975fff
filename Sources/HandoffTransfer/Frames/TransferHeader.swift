import HandoffModel

/// The first message of a sender: what is about to come.
package struct TransferHeader: Hashable, Sendable {
    /// What is sent.
    package enum Kind: String, Sendable, CaseIterable {
        /// A file, whose size is known.
        case file
        /// A folder, as a tar archive.
        case folder
        /// What a program writes, of unknown size.
        case stream
    }

    /// What is sent.
    package let kind: Kind
    /// The sender's name for it, nil when it has none. Judged only when a file is made of it, by `FileName`.
    package let name: String?
    /// Bytes of a file, 0…2^62; nil for the other kinds.
    package let size: Int64?
    /// Which content of the sender it is; nil when a cut transfer of it cannot go on.
    package let id: TransferID?
    /// Permissions, 0…0o777; nil for the usual ones.
    package let mode: UInt32?
    /// When the content was changed, in seconds since 1970; nil when unknown.
    package let modified: Int64?
    /// True if a folder contains repositories, as far as its sender has looked. Their configuration is set aside in any case.
    package var hasRepository = false

    /// Checks the values against each other and against the limits; nil when they cannot be sent.
    ///
    /// A file has a size and nothing else has one. Of the mode only the permissions are kept.
    package init?(
        kind: Kind, name: String? = nil, size: Int64? = nil, id: TransferID? = nil, mode: UInt32? = nil,
        modified: Int64? = nil
    ) {
        guard (kind == .file) == (size != nil) else { return nil }
        if let size, !(0...TransferLimits.size).contains(size) { return nil }
        if let name, name.utf8.count > TransferLimits.name { return nil }
        if let modified, !(-TransferLimits.seconds...TransferLimits.seconds).contains(modified) { return nil }
        self.kind = kind
        self.name = name
        self.size = size
        self.id = id
        self.mode = mode.map { $0 & 0o777 }
        self.modified = modified
    }
}

/// Names an unchanged file of a sender, also after its program was started again, so that a cut transfer can go on.
package struct TransferID: FixedBytes {
    package static let byteCount = 16

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// The sizes of the transfer protocol, each in one place.
package enum TransferLimits {
    /// Bytes of JSON in one frame.
    package static let frame = 65_536
    /// Bytes of a name, which is what Linux file systems take.
    package static let name = 255
    /// The largest size of a file, in bytes. Well below 2^63, so that sums of two sizes still fit.
    package static let size: Int64 = 1 << 62
    /// Bytes of a name that all file systems accept, also those that encrypt names (eCryptfs).
    static let portableName = 143
    /// Bytes of one chunk of content whose size is not known before.
    package static let chunk = 1_048_576
    /// Bytes of the message of an error.
    static let message = 1024
    /// Bytes of the reason of an error.
    static let reason = 64
    /// Seconds before or after 1970 that a time of a file may be: far beyond any file system.
    static let seconds: Int64 = 1 << 53
}
