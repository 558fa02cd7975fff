import HandoffJSON
package import HandoffModel

extension Hello {
    /// Longest program name that is accepted, in bytes.
    private static let maximumSoftwareCount = 128

    /// The body of the frame.
    package func encoded() -> [UInt8] {
        var object: JSONObject = [
            "version": .integer(protocolVersion), "software": .string(software), "kind": .string(kind.name),
            "port": .integer(Int64(port)), "boot": .integer(Int64(clamping: boot)),
            "roster": .string(Hex.encode(rosterDigest)), "epochIsCurrent": .bool(epochIsCurrent),
        ]
        if let label { object["label"] = .string(Hex.encode(label.bytes)) }
        if let seq { object["seq"] = .integer(Int64(seq)) }
        if let seenBoot { object["seenBoot"] = .integer(Int64(clamping: seenBoot)) }
        // An epoch beyond 2^63 - 1 is a hostile member's; leaving it out reads as "not the same as yours".
        if let epoch, let number = Int64(exactly: epoch) { object["epoch"] = .integer(number) }
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
        let label = try Self.label(in: fields)
        guard let digest = Hex.decode(try fields.text("roster", maximum: 32)) else { throw .field("roster") }
        let kind = DeviceKind(name: try fields.optionalText("kind", maximum: 32) ?? "") ?? .other
        let hello = Hello(
            protocolVersion: version,
            software: try fields.optionalText("software", maximum: Self.maximumSoftwareCount) ?? "", kind: kind,
            port: port, label: label, boot: boot, seq: try Self.seq(in: fields),
            seenBoot: try fields.optionalCounter("seenBoot"),
            rosterDigest: digest, epoch: try fields.optionalCounter("epoch"),
            epochIsCurrent: try fields.flag("epochIsCurrent"))
        guard let hello else { throw .field("port or roster") }
        self = hello
    }

    private static func seq(in fields: MessageFields) throws(MessageError) -> UInt32? {
        guard let number = try fields.optionalCounter("seq") else { return nil }
        guard let seq = UInt32(exactly: number) else { throw .field("seq") }
        return seq
    }

    private static func label(in fields: MessageFields) throws(MessageError) -> Label? {
        guard let text = try fields.optionalText("label", maximum: 32) else { return nil }
        guard let bytes = Hex.decode(text), let label = Label(bytes: bytes) else { throw .field("label") }
        return label
    }
}
