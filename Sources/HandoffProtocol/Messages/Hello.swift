package import HandoffModel

/// What a side says of itself first, and again whenever it has changed: all that the certificate does not say.
package struct Hello: Sendable, Equatable {
    /// Version of the messages; the ALPN name decides compatibility, this says what may be used beyond it.
    package let protocolVersion: Int64

    /// Name and version of the program, for `doctor`.
    package let software: String

    /// What sort of machine it is.
    package let kind: DeviceKind

    /// UDP and TCP port that the sender listens on, never 0.
    package let port: UInt16

    /// The sender's present label, by which it is called and sent adverts; nil when it has none yet.
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

    /// Number of the change in that start since which the sender's activities are the same; nil of programs that do not say.
    package let listSeq: UInt32?

    /// The sender ends, or has left its account: what it offers is void.
    package let isGoodbye: Bool

    /// What names the epoch in force by the sender's roster, if the sender holds its key: the first 8 bytes of the commitment to
    /// that key. Nil otherwise.
    package let epoch: [UInt8]?

    /// Bytes of ``epoch``.
    package static let epochCount = 8

    /// Version of the messages described in docs/protocol.md.
    package static let currentVersion: Int64 = 1

    /// A hello; nil when digest or epoch do not have 8 bytes, the port is 0, or a start number is 0 or beyond 2^63 - 1.
    package init?(
        protocolVersion: Int64 = currentVersion, software: String, kind: DeviceKind, port: UInt16, label: Label?,
        boot: UInt64, seq: UInt32? = nil, listSeq: UInt32? = nil, seenBoot: UInt64?, rosterDigest: [UInt8],
        epoch: [UInt8]?, isGoodbye: Bool = false
    ) {
        let numbers = [boot, seenBoot ?? boot]
        guard rosterDigest.count == Announcement.digestCount, port != 0, (epoch?.count ?? 8) == Self.epochCount,
            numbers.allSatisfy((1...Position.maximumBoot).contains)
        else { return nil }
        self.protocolVersion = protocolVersion
        self.software = software
        self.kind = kind
        self.port = port
        self.label = label
        self.boot = boot
        self.seq = seq
        self.listSeq = listSeq
        self.seenBoot = seenBoot
        self.rosterDigest = rosterDigest
        self.epoch = epoch
        self.isGoodbye = isGoodbye
    }
}
