package import HandoffCrypto
package import HandoffModel
package import HandoffProtocol

/// The door before TLS: bytes that only one member, or the holder of an open ticket, can write; valid for one
/// ClientHello at one server. They are `hint || serial || tag`.
package enum Gate {
    /// Bytes of the hint, by which a server finds the key of the tag.
    static let hintCount = 8

    /// Bytes of the serial, the masked ``Serial``.
    static let serialCount = 12

    /// Bytes of the tag, the beginning of a code over all the rest.
    static let tagCount = 20

    /// Bytes in front of the ClientHello record.
    package static let tokenCount = hintCount + serialCount + tagCount

    /// Bytes of a TLS record's header.
    package static let recordHeaderCount = 5

    /// Longest ClientHello record that is read, without its header: one with a share of X25519MLKEM768 has 1,424 bytes.
    package static let maxRecordBody = 4096

    /// The label of a server that is known by its address alone.
    package static let staticLabel = Label.checked(Array("handoff/1 static".utf8))

    private static let handshakeType: UInt8 = 22

    /// The number of a call: greater than those of all earlier calls of its device.
    package struct Serial: Hashable, Comparable, Sendable {
        /// The caller's boot.
        package let boot: UInt64
        /// The number of the call within the boot.
        package let call: UInt32

        /// The number of one call.
        package init(boot: UInt64, call: UInt32) {
            self.boot = boot
            self.call = call
        }

        package static func < (left: Serial, right: Serial) -> Bool {
            (left.boot, left.call) < (right.boot, right.call)
        }

        /// The 12 bytes before they are masked.
        fileprivate var bytes: [UInt8] {
            var writer = ByteWriter()
            writer.u64(boot)
            writer.u32(call)
            return writer.bytes
        }
    }

    /// The way in which a server finds the key of a token.
    package enum Hint: Sendable {
        /// By the caller's id, masked with the gate key of the epoch in which the label was made.
        case device(DeviceID, epoch: SecretBytes)
        /// By the pairwise key alone, for a label of another epoch, and for a ticket. All calls under one label have the same.
        case pair
        /// By no party: it is the key of the epoch, and the caller introduces itself.
        case introduction
    }

    /// The server and ClientHello for which a token is made.
    package struct Greeting: Sendable {
        fileprivate let server: DeviceID
        fileprivate let digest: [UInt8]

        /// - Parameters:
        ///   - clientHello: the whole record.
        ///   - server: the device that is called: what one of two devices sends must not open its own gate.
        package init(_ clientHello: [UInt8], to server: DeviceID) {
            digest = SHA256.hash(clientHello)
            self.server = server
        }
    }

    /// The bytes that a client sends before its ClientHello record.
    ///
    /// - Parameter key: the gate key that the two share (``PairwiseKeys/gate``, for an introduction ``EpochKeys/gate``).
    package static func token(
        key: SecretBytes, hint: Hint, serial: Serial, label: Label, _ greeting: Greeting
    ) -> [UInt8] {
        let masked = xor(serial.bytes, serialMask(key, greeting))
        var writer = ByteWriter(capacity: tokenCount)
        switch hint {
        case .device(let device, let epoch): writer.u64(number(device) ^ hintMask(epoch, greeting))
        case .pair: writer.u64(pairHint(key: key, label: label, server: greeting.server))
        case .introduction: writer.u64(UInt64.random(in: 0...(.max)))
        }
        writer.raw(masked)
        writer.raw(tag(key, label, masked, greeting))
        return writer.bytes
    }

    /// The hint of the other one of a pair when it calls this server by their key alone.
    package static func pairHint(key: SecretBytes, label: Label, server: DeviceID) -> UInt64 {
        number(HMACSHA256.authenticate([hintText, server.bytes[...], label.bytes[...]], key: key))
    }

    /// The number of a device in a hint: the first 8 bytes of its id.
    package static func number(_ device: DeviceID) -> UInt64 { number(device.bytes) }

    /// Length of the record behind the 5 bytes of its header; nil when it is no handshake record or too long.
    package static func recordBodyCount(header: [UInt8]) -> Int? {
        guard header.count == recordHeaderCount, header[0] == handshakeType else { return nil }
        let count = Int(header[3]) << 8 | Int(header[4])
        return count > 0 && count <= maxRecordBody ? count : nil
    }

    /// True if this is a token of the draft of version 1 that had neither hint nor serial, to show a user which device
    /// to update.
    package static func isFormer(
        _ token: [UInt8], key: SecretBytes, labels: [Label], _ greeting: Greeting
    ) -> Bool {
        labels.contains { label in
            let parts = [greeting.server.bytes[...], label.bytes[...], greeting.digest[...]]
            let code = HMACSHA256.authenticate([Array("handoff/1 gate".utf8)[...]] + parts, key: key)
            return ConstantTime.equal(token, code)
        }
    }

    /// The static labels of that draft, of the present period of time and its neighbours.
    package static func formerStaticLabels(unixSeconds: UInt64) -> [Label] {
        let period = unixSeconds / 1024
        return [period, period &- 1, period &+ 1].map { period in
            var writer = ByteWriter()
            writer.text("handoff/")
            writer.u64(period)
            return Label.checked(writer.bytes)
        }
    }

    private static let hintText = Array("handoff/1 hint".utf8)[...]

    fileprivate static func hintMask(_ epoch: SecretBytes, _ greeting: Greeting) -> UInt64 {
        number(HMACSHA256.authenticate([hintText, greeting.server.bytes[...], greeting.digest[...]], key: epoch))
    }

    fileprivate static func serialMask(_ key: SecretBytes, _ greeting: Greeting) -> [UInt8] {
        HMACSHA256.authenticate([Array("handoff/1 serial".utf8)[...], greeting.digest[...]], key: key)
    }

    fileprivate static func tag(
        _ key: SecretBytes, _ label: Label, _ serial: [UInt8], _ greeting: Greeting
    ) -> [UInt8] {
        let code = HMACSHA256.authenticate(
            [
                Array("handoff/1 gate".utf8)[...], greeting.server.bytes[...], label.bytes[...], serial[...],
                greeting.digest[...],
            ], key: key)
        return Array(code.prefix(tagCount))
    }

    fileprivate static func xor(_ bytes: [UInt8], _ mask: [UInt8]) -> [UInt8] {
        zip(bytes, mask).map { $0 ^ $1 }
    }

    /// The first 8 bytes, big-endian.
    fileprivate static func number(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.prefix(hintCount).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The first bytes of a caller at the gate of a server, which looks for the one key that they were made with. Counts the
/// hashes.
package struct Knock: Sendable {
    /// Hashes so far; the first one is that of the ClientHello record.
    package private(set) var hashes = 1
    /// The hint as it was written.
    package let hint: UInt64
    /// Tells this token from all others that the server takes.
    package let tag: [UInt8]
    private let serial: [UInt8]
    private let greeting: Gate.Greeting

    /// - Parameters:
    ///   - token: the bytes before the record; nil when it has another length than a token.
    ///   - clientHello: the whole record.
    ///   - server: this device.
    package init?(_ token: [UInt8], _ clientHello: [UInt8], to server: DeviceID) {
        guard token.count == Gate.tokenCount else { return nil }
        hint = Gate.number(token)
        serial = Array(token[Gate.hintCount..<Gate.hintCount + Gate.serialCount])
        tag = Array(token.suffix(Gate.tagCount))
        greeting = Gate.Greeting(clientHello, to: server)
    }

    /// The number of the caller in the hint (``Gate/number(_:)``), if that was masked with this epoch's gate key.
    package mutating func device(epoch: SecretBytes) -> UInt64 {
        hashes += 1
        return hint ^ Gate.hintMask(epoch, greeting)
    }

    /// True if the tag was made with this key for this label; compares in constant time.
    package mutating func isMade(with key: SecretBytes, under label: Label) -> Bool {
        hashes += 1
        return ConstantTime.equal(tag, Gate.tag(key, label, serial, greeting))
    }

    /// The number of the call, if the tag was made with this key; nil for a boot that no device has.
    package mutating func serial(with key: SecretBytes) -> Gate.Serial? {
        hashes += 1
        var reader = ByteReader(Gate.xor(serial, Gate.serialMask(key, greeting)))
        guard let boot = try? reader.u64(), let call = try? reader.u32(), (1...Position.maxBoot).contains(boot) else {
            return nil
        }
        return Gate.Serial(boot: boot, call: call)
    }
}

/// The tags that were used under the present label: each opens the door once.
package struct SeenTokens: Sendable {
    /// Tags that are remembered; then the server takes a new label, under which all old ones are void.
    package static let maxCount = 4096

    /// Bytes of a tag that are kept; these collide with no others by chance.
    private static let keptCount = 16

    private var seen: Set<[UInt8]> = []

    /// None seen yet.
    package init() {}

    /// True when it is time for a new label, and for an empty memory with it.
    package var isFull: Bool {
        seen.count >= Self.maxCount
    }

    /// Notes a tag that is valid; false when it was used before or there is no room, and must be refused.
    package mutating func insert(_ token: [UInt8]) -> Bool {
        guard !isFull else { return false }
        return seen.insert(Array(token.prefix(Self.keptCount))).inserted
    }
}
