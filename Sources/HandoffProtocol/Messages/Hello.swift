import HandoffJSON
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

    /// Why the sender is leaving, if it is: what it offers is void then.
    package let farewell: Farewell?

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
        epoch: [UInt8]?, farewell: Farewell? = nil
    ) {
        let numbers = [boot, seenBoot ?? boot]
        guard rosterDigest.count == Announcement.digestCount, port != 0, (epoch?.count ?? 8) == Self.epochCount,
            numbers.allSatisfy((1...Position.maxBoot).contains)
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
        self.farewell = farewell
    }
}

extension Hello {
    /// Longest program name that is accepted, in bytes.
    private static let maxSoftwareCount = 128
    /// Most capabilities, and longest one, in bytes.
    private static let maxCapabilities = 16
    private static let maxCapabilityCount = 32

    /// The body of the frame.
    ///
    /// - Parameter grease: reserved values that it has, too.
    package func encoded(_ grease: Grease? = nil) -> [UInt8] {
        var object: JSONObject = [
            "version": .integer(protocolVersion), "software": .string(software), "kind": .string(kind.name),
            "port": .integer(Int64(port)), "boot": .integer(Int64(clamping: boot)),
            "roster": .string(Hex.encode(rosterDigest)),
        ]
        if let label { object["label"] = .string(Hex.encode(label.bytes)) }
        if let seq { object["seq"] = .integer(Int64(seq)) }
        if let listSeq { object["listSeq"] = .integer(Int64(listSeq)) }
        if let seenBoot { object["seenBoot"] = .integer(Int64(clamping: seenBoot)) }
        if let epoch { object["epoch"] = .string(Hex.encode(epoch)) }
        switch farewell {
        case nil: break
        case .goodbye: object["goodbye"] = .bool(true)
        case .sleep:
            object["goodbye"] = .bool(true)
            object["asleep"] = .bool(true)
        }
        object.add(grease)
        if let grease { object["capabilities"] = .array([.string(grease.name)]) }
        return JSON.object(object).encoded()
    }

    /// Reads the body of a frame.
    ///
    /// Unknown members are ignored. A member `device`, which no version sends, must name the certificate's device:
    /// nobody may claim to be someone else in a message.
    package init(decoding body: [UInt8], from device: DeviceID) throws(MessageError) {
        let fields = try MessageFields(parsing: body)
        let version = try fields.integer("version")
        guard version >= 1 else { throw .field("version") }
        if let claimed = try fields.optionalText("device", maximum: 128), DeviceID(hex: claimed) != device {
            throw .field("device")
        }
        guard let port = UInt16(exactly: try fields.integer("port")) else { throw .field("port") }
        guard let boot = try fields.optionalCounter("boot") else { throw .field("boot") }
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
        // What the sender can beyond this version is nothing that this one could use.
        _ = try fields.texts("capabilities", maximum: Self.maxCapabilities, longest: Self.maxCapabilityCount)
        let isAsleep = try fields.flag("asleep")
        let farewell: Farewell? = try fields.flag("goodbye") ? (isAsleep ? .sleep : .goodbye) : nil
        let hello = Hello(
            protocolVersion: version, software: software ?? "", kind: DeviceKind(name: kind ?? "") ?? .other,
            port: port, label: label, boot: boot, seq: seq, listSeq: listSeq,
            seenBoot: try fields.optionalCounter("seenBoot"),
            rosterDigest: digest, epoch: try fields.optionalHex("epoch", bytes: Self.epochCount),
            farewell: farewell)
        guard let hello else { throw .field("port, roster, epoch or boot") }
        self = hello
    }

    private static func seq(_ name: String, in fields: MessageFields) throws(MessageError) -> UInt32? {
        guard let number = try fields.optionalCounter(name) else { return nil }
        guard let seq = UInt32(exactly: number) else { throw .field(name) }
        return seq
    }
}
