package import HandoffCrypto
package import HandoffModel
package import HandoffProtocol
import Timing

/// The door before TLS: 32 bytes that only one member, or who holds an open ticket, can write; good for one ClientHello at one
/// server.
package enum Gate {
    /// Bytes in front of the ClientHello record.
    package static let tokenCount = 32

    /// Bytes of a TLS record's header.
    package static let recordHeaderCount = 5

    /// Longest ClientHello record that is read, without its header.
    package static let maxRecordBody = 1024

    /// Seconds for which a static label holds; one of these before and after is taken too.
    private static let staticPeriod: UInt64 = 1024

    private static let handshakeType: UInt8 = 22

    /// What a token is made for, computed once for each ClientHello: a server compares it under several keys and labels.
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

    /// What a client sends first: a code over server, its label, and the ClientHello record.
    ///
    /// - Parameter key: the gate key that the two share (``PairwiseKeys/gate``, for an introduction ``EpochKeys/gate``).
    package static func token(key: SecretBytes, label: Label, _ greeting: Greeting) -> [UInt8] {
        HMACSHA256.authenticate(
            [Array("handoff/1 gate".utf8)[...], greeting.server.bytes[...], label.bytes[...], greeting.digest[...]],
            key: key)
    }

    /// True when `token` is the one for this label and ClientHello; compares in constant time.
    package static func isValid(_ token: [UInt8], key: SecretBytes, label: Label, _ greeting: Greeting) -> Bool {
        ConstantTime.equal(token, self.token(key: key, label: label, greeting))
    }

    /// Length of the record behind the 5 bytes of its header; nil when it is no handshake record or too long.
    package static func recordBodyCount(header: [UInt8]) -> Int? {
        guard header.count == recordHeaderCount, header[0] == handshakeType else { return nil }
        let count = Int(header[3]) << 8 | Int(header[4])
        return count > 0 && count <= maxRecordBody ? count : nil
    }

    /// The label that stands for a server which is known by its address alone, at `unixSeconds`.
    package static func staticLabel(unixSeconds: UInt64) -> Label {
        staticLabel(period: unixSeconds / staticPeriod)
    }

    /// The static labels that a server takes at `unixSeconds`: the present one, the one before, the one after.
    package static func staticLabels(unixSeconds: UInt64) -> [Label] {
        let period = unixSeconds / staticPeriod
        return [period, period &- 1, period &+ 1].map { staticLabel(period: $0) }
    }

    private static func staticLabel(period: UInt64) -> Label {
        var writer = ByteWriter()
        writer.text("handoff/")
        writer.u64(period)
        return Label.checked(writer.bytes)
    }
}

/// The gate tokens that were used under the present label: each opens the door once.
package struct SeenTokens: Sendable {
    /// Tokens that are remembered; then the server takes a new label, under which all old ones are void.
    package static let maxCount = 4096

    /// Bytes of a token that are kept; half a token collides with no other by chance.
    private static let keptCount = 16

    private var seen: Set<[UInt8]> = []

    /// None seen yet.
    package init() {}

    /// True when it is time for a new label, and for an empty memory with it.
    package var isFull: Bool {
        seen.count >= Self.maxCount
    }

    /// Notes a token that is valid; false when it was used before or there is no room, and must be refused.
    package mutating func insert(_ token: [UInt8]) -> Bool {
        guard !isFull else { return false }
        return seen.insert(Array(token.prefix(Self.keptCount))).inserted
    }
}
