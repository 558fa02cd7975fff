import HandoffJSON
package import HandoffModel

extension Hello {
    /// Longest program name that is accepted, in bytes.
    private static let maximumSoftwareCount = 128
    /// Most capabilities, and longest one, in bytes.
    private static let maximumCapabilities = 16
    private static let maximumCapabilityCount = 32

    /// The body of the frame.
    package func encoded() -> [UInt8] {
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
        if isGoodbye { object["goodbye"] = .bool(true) }
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
        let software = try fields.optionalText("software", maximum: Self.maximumSoftwareCount)
        let kind = try fields.optionalText("kind", maximum: 32)
        guard software != "", kind != "" else { throw .field("software or kind") }
        let seq = try Self.seq("seq", in: fields)
        let listSeq = try Self.seq("listSeq", in: fields)
        if let listSeq { guard let seq, listSeq <= seq else { throw .field("listSeq") } }
        // What the sender can beyond this version is nothing that this one could use.
        _ = try fields.texts("capabilities", maximum: Self.maximumCapabilities, longest: Self.maximumCapabilityCount)
        let hello = Hello(
            protocolVersion: version, software: software ?? "", kind: DeviceKind(name: kind ?? "") ?? .other,
            port: port, label: label, boot: boot, seq: seq, listSeq: listSeq,
            seenBoot: try fields.optionalCounter("seenBoot"),
            rosterDigest: digest, epoch: try fields.optionalHex("epoch", bytes: Self.epochCount),
            isGoodbye: try fields.flag("goodbye"))
        guard let hello else { throw .field("port, roster, epoch or boot") }
        self = hello
    }

    private static func seq(_ name: String, in fields: MessageFields) throws(MessageError) -> UInt32? {
        guard let number = try fields.optionalCounter(name) else { return nil }
        guard let seq = UInt32(exactly: number) else { throw .field(name) }
        return seq
    }
}
