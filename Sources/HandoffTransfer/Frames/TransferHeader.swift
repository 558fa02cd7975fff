import HandoffModel

/// The first message of a sender, which describes the content.
package struct TransferHeader: Hashable, Sendable {
    /// The kind of content.
    package enum Kind: String, Sendable, CaseIterable {
        /// A file of known size.
        case file
        /// A folder, sent as a tar archive.
        case folder
        /// The output of a program, of unknown size.
        case stream
    }

    /// The kind of content.
    package let kind: Kind
    /// The sender's name for the content, if any. `FileName` checks it when a file is created.
    package let name: String?
    /// The size of a file in bytes, 0…2^62; nil for other kinds.
    package let size: Int64?
    /// Identifies the content at the sender; nil if an interrupted transfer cannot be continued.
    package let id: TransferID?
    /// Permissions, 0…0o777; nil for the defaults.
    package let mode: UInt32?
    /// The modification time in seconds since 1970; nil if unknown.
    package let modified: Int64?
    /// True if the sender found repositories in the folder. The receiver sets their configuration
    /// aside in any case.
    package var hasRepository = false

    /// Returns nil if a value exceeds its limits or does not match the kind.
    ///
    /// Only files have a size, and every file has one. Only the permissions of the mode are kept.
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

/// Identifies an unchanged file of a sender, even after the sending program restarts, so that an
/// interrupted transfer can be continued.
package struct TransferID: FixedBytes {
    package static let byteCount = 16

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// The limits of the transfer protocol.
package enum TransferLimits {
    /// The maximum bytes of JSON in one frame.
    package static let frame = 65_536
    /// The maximum bytes of a name, the same as on Linux file systems.
    package static let name = 255
    /// The maximum size of a file in bytes. The sum of two sizes is still below 2^63.
    package static let size: Int64 = 1 << 62
    /// The bytes of a name that all file systems accept, including those that encrypt names
    /// (eCryptfs).
    static let portableName = 143
    /// The maximum bytes of one chunk of content of unknown size.
    static let chunk = 1_048_576
    /// The maximum bytes of an error message.
    static let message = 1024
    /// The maximum bytes of an error reason.
    static let reason = 64
    /// The maximum distance of a file time from 1970, in seconds. It far exceeds every file
    /// system's limits.
    static let seconds: Int64 = 1 << 53
}
