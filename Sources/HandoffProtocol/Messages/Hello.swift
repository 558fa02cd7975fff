import HandoffJSON
package import HandoffModel

/// The first message of each side, sent again whenever it changes: the information that the
/// certificate does not contain.
package struct Hello: Sendable, Equatable {
    /// The version of the messages. The ALPN name determines compatibility. This version determines
    /// which additional features may be used.
    let protocolVersion: Int64

    /// The name and version of the program, for `doctor`.
    package let software: String

    package let kind: DeviceKind

    /// The UDP and TCP port on which the sender listens, never 0.
    package let port: UInt16

    /// The sender's current label, to which connections and adverts are addressed; nil if it has
    /// none yet.
    package let label: Label?

    /// The sender's generation, which increases at each start.
    package let generation: UInt64

    /// The number of the sender's latest announcement in that generation. A hello that arrives
    /// after a newer announcement is outdated. Nil if the program does not send it.
    package let seq: UInt32?

    /// The greatest generation of the *receiver* that the sender has recorded; nil if there is
    /// none.
    package let seenGeneration: UInt64?

    /// The first 8 bytes of the digest of the sender's roster.
    package let rosterDigest: [UInt8]

    /// The number of the change in that generation since which the sender's activities are
    /// unchanged; nil if the program does not send it.
    package let listSeq: UInt32?

    /// The reason why the sender is leaving, which voids its offers; nil if it is not leaving.
    package let leaveReason: LeaveReason?

    /// True if the sender keeps activities of other devices.
    package let keepsActivities: Bool

    /// Identifies the records of kept activities that the sender has: the first 16 bytes of the
    /// SHA-256 of their names. Nil if it has none.
    package let keptDigest: [UInt8]?

    /// Identifies the current epoch of the sender's roster, if the sender has its key: the first 8
    /// bytes of the commitment to that key. Nil otherwise.
    package let epoch: [UInt8]?

    /// The number of bytes in ``epoch``.
    static let epochCount = 8

    /// The version of the messages described in docs/protocol.md.
    static let currentVersion: Int64 = 1

    /// Returns nil if the digest or the epoch does not have 8 bytes, the port is 0, or a generation
    /// is 0 or above 2^63 - 1.
    package init?(
        protocolVersion: Int64 = currentVersion, software: String, kind: DeviceKind, port: UInt16, label: Label?,
        generation: UInt64, seq: UInt32? = nil, listSeq: UInt32? = nil, seenGeneration: UInt64?, rosterDigest: [UInt8],
        epoch: [UInt8]?, leaveReason: LeaveReason? = nil, keepsActivities: Bool = false, keptDigest: [UInt8]? = nil
    ) {
        let numbers = [generation, seenGeneration ?? generation]
        guard rosterDigest.count == Announcement.digestCount, port != 0, (epoch?.count ?? 8) == Self.epochCount,
            (keptDigest?.count ?? Self.keptDigestCount) == Self.keptDigestCount,
            numbers.allSatisfy((1...Position.maxGeneration).contains)
        else { return nil }
        self.protocolVersion = protocolVersion
        self.software = software
        self.kind = kind
        self.port = port
        self.label = label
        self.generation = generation
        self.seq = seq
        self.listSeq = listSeq
        self.seenGeneration = seenGeneration
        self.rosterDigest = rosterDigest
        self.epoch = epoch
        self.leaveReason = leaveReason
        self.keepsActivities = keepsActivities
        self.keptDigest = keptDigest
    }
}

extension Hello {
    /// The maximum length of a program name, in bytes.
    private static let maxSoftwareCount = 128
    /// The maximum number of capabilities, and the maximum length of one, in bytes.
    private static let maxCapabilities = 16
    private static let maxCapabilityCount = 32
    /// The number of bytes of `kept`.
    private static let keptDigestCount = 16
    /// The capability of a device that keeps activities.
    private static let keepCapability = "keep"

    /// Returns the body of the frame.
    ///
    /// - Parameter grease: Reserved values to include.
    package func encoded(_ grease: Grease? = nil) -> [UInt8] {
        var object: JSONObject = [
            "version": .integer(protocolVersion), "software": .string(software), "kind": .string(kind.name),
            "port": .integer(Int64(port)), "boot": .integer(Int64(clamping: generation)),
            "roster": .string(Hex.encode(rosterDigest)),
        ]
        if let label { object["label"] = .string(Hex.encode(label.bytes)) }
        if let seq { object["seq"] = .integer(Int64(seq)) }
        if let listSeq { object["listSeq"] = .integer(Int64(listSeq)) }
        if let seenGeneration { object["seenBoot"] = .integer(Int64(clamping: seenGeneration)) }
        if let epoch { object["epoch"] = .string(Hex.encode(epoch)) }
        switch leaveReason {
        case nil: break
        case .goodbye: object["goodbye"] = .bool(true)
        case .sleep:
            object["goodbye"] = .bool(true)
            object["asleep"] = .bool(true)
        }
        object.add(grease)
        if let keptDigest { object["kept"] = .string(Hex.encode(keptDigest)) }
        let capabilities = (keepsActivities ? [Self.keepCapability] : []) + (grease.map { [$0.name] } ?? [])
        if !capabilities.isEmpty { object["capabilities"] = .array(capabilities.map { .string($0) }) }
        return JSON.object(object).encoded()
    }

    /// Decodes the body of a frame.
    ///
    /// Unknown members are ignored. A member `device`, which no version sends, must name the
    /// certificate's device: a message must not claim another identity.
    package init(decoding body: [UInt8], from device: DeviceID) throws(MessageError) {
        let fields = try MessageFields(parsing: body)
        let version = try fields.integer("version")
        guard version >= 1 else { throw .field("version") }
        if let claimed = try fields.optionalText("device", maximum: 128), DeviceID(hex: claimed) != device {
            throw .field("device")
        }
        guard let port = UInt16(exactly: try fields.integer("port")) else { throw .field("port") }
        guard let generation = try fields.optionalCounter("boot") else { throw .field("boot") }
        let label = try fields.optionalHex("label", bytes: Label.byteCount).flatMap { Label(bytes: $0) }
        guard let digest = try fields.optionalHex("roster", bytes: Announcement.digestCount) else {
            throw .field("roster")
        }
        let software = try fields.optionalText("software", maximum: Self.maxSoftwareCount)
        let kind = try fields.optionalText("kind", maximum: 32)
        guard software != "", kind != "" else { throw .field("software or kind") }
        let seq = try Self.seq("seq", in: fields)
        let listSeq = try Self.seq("listSeq", in: fields)
        if let listSeq { guard let seq, listSeq <= seq else { throw .field("listSeq") } }
        let capabilities = try fields.texts(
            "capabilities", maximum: Self.maxCapabilities, lengths: 1...Self.maxCapabilityCount)
        let keptDigest = try fields.optionalHex("kept", bytes: Self.keptDigestCount)
        let isAsleep = try fields.isSet("asleep")
        let leaveReason: LeaveReason? = try fields.isSet("goodbye") ? (isAsleep ? .sleep : .goodbye) : nil
        let hello = Hello(
            protocolVersion: version, software: software ?? "", kind: DeviceKind(name: kind ?? "") ?? .other,
            port: port, label: label, generation: generation, seq: seq, listSeq: listSeq,
            seenGeneration: try fields.optionalCounter("seenBoot"),
            rosterDigest: digest, epoch: try fields.optionalHex("epoch", bytes: Self.epochCount),
            leaveReason: leaveReason, keepsActivities: capabilities.contains(Self.keepCapability),
            keptDigest: keptDigest)
        guard let hello else { throw .field("port, roster, epoch or boot") }
        self = hello
    }

    private static func seq(_ name: String, in fields: MessageFields) throws(MessageError) -> UInt32? {
        guard let number = try fields.optionalCounter(name) else { return nil }
        guard let seq = UInt32(exactly: number) else { throw .field(name) }
        return seq
    }
}
