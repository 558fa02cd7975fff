package import HandoffModel

/// The first message of each side: what the certificate does not say.
package struct Hello: Sendable, Equatable {
    /// Version of the messages; the ALPN name decides compatibility, this says what may be used beyond it.
    package let protocolVersion: Int64

    /// Name and version of the program, for `doctor`.
    package let software: String

    /// What sort of machine it is.
    package let kind: DeviceKind

    /// UDP and TCP port that the sender listens on, never 0.
    package let port: UInt16

    /// The sender's present label, for peers that were called by a static address; nil when it has none yet.
    package let label: Label?

    /// Number of the sender's start.
    package let boot: UInt64

    /// Number of the sender's latest announcement in that start: a hello that an announcement has overtaken says less than it.
    /// Nil of programs that do not say.
    package let seq: UInt32?

    /// The greatest start number of the *receiver* that the sender has seen; nil when it has seen none.
    package let seenBoot: UInt64?

    /// First 8 bytes of the digest of the sender's roster.
    package let rosterDigest: [UInt8]

    /// Number of the epoch whose key the sender holds; nil when it holds none.
    package let epoch: UInt64?

    /// The sender's own roster says that this epoch is the current one.
    package let epochIsCurrent: Bool

    /// Version of the messages described in docs/protocol.md.
    package static let currentVersion: Int64 = 1

    /// A hello; nil when the digest does not have 8 bytes, the port is 0 or a number is beyond 2^63 - 1.
    package init?(
        protocolVersion: Int64 = currentVersion, software: String, kind: DeviceKind, port: UInt16, label: Label?,
        boot: UInt64, seq: UInt32? = nil, seenBoot: UInt64?, rosterDigest: [UInt8], epoch: UInt64?, epochIsCurrent: Bool
    ) {
        let numbers = [boot, seenBoot ?? 0]
        guard rosterDigest.count == Announcement.digestCount, port != 0,
            numbers.allSatisfy({ $0 <= Position.maximumBoot })
        else { return nil }
        self.protocolVersion = protocolVersion
        self.software = software
        self.kind = kind
        self.port = port
        self.label = label
        self.boot = boot
        self.seq = seq
        self.seenBoot = seenBoot
        self.rosterDigest = rosterDigest
        self.epoch = epoch
        self.epochIsCurrent = epochIsCurrent
    }
}
