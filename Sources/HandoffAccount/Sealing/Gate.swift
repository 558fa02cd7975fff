package import HandoffCrypto
package import HandoffModel
package import HandoffProtocol

/// The gate before TLS. A connection starts with a token, `hint || serial || tag`, that only one
/// member or the holder of an open ticket can create. It is valid for one ClientHello at one
/// server.
package enum Gate {
    /// Size of the hint, with which a server finds the key of the tag.
    static let hintCount = 8

    /// Size of the serial, the masked ``Serial``.
    static let serialCount = 12

    /// Size of the tag, a truncated code over all other bytes.
    static let tagCount = 20

    /// Size of the token, which precedes the ClientHello record.
    package static let tokenCount = hintCount + serialCount + tagCount

    /// Size of a TLS record header.
    package static let recordHeaderCount = 5

    /// Maximum length of a ClientHello record, without its header. A record with an X25519MLKEM768
    /// share has 1,424 bytes.
    package static let maxRecordBody = 4096

    /// The label of a server that is known only by its address.
    package static let staticLabel = Label.checked(Array("handoff/1 static".utf8))

    private static let handshakeType: UInt8 = 22

    /// The number of a call, greater than those of all earlier calls of its device.
    package struct Serial: Hashable, Comparable, Sendable {
        /// The caller's generation number.
        package let generation: UInt64
        /// The number of the call within the generation.
        package let call: UInt32

        package init(generation: UInt64, call: UInt32) {
            self.generation = generation
            self.call = call
        }

        package static func < (left: Serial, right: Serial) -> Bool {
            (left.generation, left.call) < (right.generation, right.call)
        }

        /// The 12 bytes before masking.
        fileprivate var bytes: [UInt8] {
            var writer = ByteWriter()
            writer.u64(generation)
            writer.u32(call)
            return writer.bytes
        }
    }

    /// The method by which a server finds the key of a token.
    package enum Hint: Sendable {
        /// By the caller's id, masked with the gate key of the epoch in which the label was
        /// created.
        case device(DeviceID, epoch: SecretBytes)
        /// By the pairwise key alone, for a label of another epoch and for a ticket. All calls of
        /// one pair under one label have the same hint.
        case pair
        /// By no caller: the key is that of the epoch, and the caller introduces itself.
        case introduction
    }

    /// The server and ClientHello that a token is bound to.
    package struct Greeting: Sendable {
        fileprivate let server: DeviceID
        fileprivate let digest: [UInt8]

        /// - Parameters:
        ///   - clientHello: the whole record.
        ///   - server: the called device. It prevents a token from being reflected to the gate of
        ///     its sender.
        package init(_ clientHello: [UInt8], to server: DeviceID) {
            digest = SHA256.hash(clientHello)
            self.server = server
        }
    }

    /// The bytes that a client sends before its ClientHello record.
    ///
    /// - Parameter key: the gate key that both share: ``PairwiseKeys/gate``, or ``EpochKeys/gate``
    ///   for an introduction.
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

    /// The hint of a peer that calls this server by their pairwise key alone.
    package static func pairHint(key: SecretBytes, label: Label, server: DeviceID) -> UInt64 {
        number(HMACSHA256.authenticate([hintText, server.bytes[...], label.bytes[...]], key: key))
    }

    /// The number of a device in a hint: the first 8 bytes of its id.
    package static func number(_ device: DeviceID) -> UInt64 { number(device.bytes) }

    /// Length of the record after its 5-byte header, or nil if it is not a handshake record or is
    /// too long.
    package static func recordBodyCount(header: [UInt8]) -> Int? {
        guard header.count == recordHeaderCount, header[0] == handshakeType else { return nil }
        let count = Int(header[3]) << 8 | Int(header[4])
        return count > 0 && count <= maxRecordBody ? count : nil
    }

    /// Returns whether this is a token of the draft of version 1, which had neither hint nor
    /// serial. Used to show which device to update.
    package static func isFormer(
        _ token: [UInt8], key: SecretBytes, labels: [Label], _ greeting: Greeting
    ) -> Bool {
        labels.contains { label in
            let parts = [greeting.server.bytes[...], label.bytes[...], greeting.digest[...]]
            let code = HMACSHA256.authenticate([Array("handoff/1 gate".utf8)[...]] + parts, key: key)
            return ConstantTime.equal(token, code)
        }
    }

    /// The static labels of that draft for the current time period and its neighbours.
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

    /// The first 8 bytes as a big-endian number.
    fileprivate static func number(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.prefix(hintCount).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The first bytes that a caller sends to the gate. The server searches for the key that created
/// them. Counts the hashes computed.
package struct Knock: Sendable {
    /// Number of hashes so far. The first is the hash of the ClientHello record.
    package private(set) var hashes = 1
    /// The hint as received.
    package let hint: UInt64
    /// Identifies this token among all accepted tokens.
    package let tag: [UInt8]
    private let serial: [UInt8]
    private let greeting: Gate.Greeting

    /// Returns nil if `token` does not have the length of a token.
    ///
    /// - Parameters:
    ///   - token: the bytes before the record.
    ///   - clientHello: the whole record.
    ///   - server: this device.
    package init?(_ token: [UInt8], _ clientHello: [UInt8], to server: DeviceID) {
        guard token.count == Gate.tokenCount else { return nil }
        hint = Gate.number(token)
        serial = Array(token[Gate.hintCount..<Gate.hintCount + Gate.serialCount])
        tag = Array(token.suffix(Gate.tagCount))
        greeting = Gate.Greeting(clientHello, to: server)
    }

    /// The number of the caller in the hint (``Gate/number(_:)``), if this epoch's gate key masked
    /// it.
    package mutating func device(epoch: SecretBytes) -> UInt64 {
        hashes += 1
        return hint ^ Gate.hintMask(epoch, greeting)
    }

    /// Returns whether the tag was created with this key for this label. Compares in constant time.
    package mutating func isMade(with key: SecretBytes, under label: Label) -> Bool {
        hashes += 1
        return ConstantTime.equal(tag, Gate.tag(key, label, serial, greeting))
    }

    /// The number of the call, if the tag was created with this key. Nil for an invalid generation
    /// number.
    package mutating func serial(with key: SecretBytes) -> Gate.Serial? {
        hashes += 1
        var reader = ByteReader(Gate.xor(serial, Gate.serialMask(key, greeting)))
        guard let generation = try? reader.u64(), let call = try? reader.u32(),
            (1...Position.maxGeneration).contains(generation)
        else {
            return nil
        }
        return Gate.Serial(generation: generation, call: call)
    }
}

/// The tags used under the current label. Each is accepted once.
package struct SeenTokens: Sendable {
    /// Maximum number of remembered tags. The server then changes its label, which invalidates all
    /// earlier tags.
    package static let maxCount = 4096

    /// Number of bytes kept of each tag, enough to prevent accidental collisions.
    private static let keptCount = 16

    private var seen: Set<[UInt8]> = []

    /// Creates an empty set.
    package init() {}

    /// True if the label must be changed and the set emptied.
    package var isFull: Bool {
        seen.count >= Self.maxCount
    }

    /// Records a valid tag. Returns false if it was used before or the set is full; the token must
    /// then be rejected.
    package mutating func insert(_ token: [UInt8]) -> Bool {
        guard !isFull else { return false }
        return seen.insert(Array(token.prefix(Self.keptCount))).inserted
    }
}
