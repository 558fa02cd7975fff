import HandoffAccount

/// The bytes of one connection to a pairing window before TLS: a ClientHello record, with a token before it when the
/// joiner has the link. A plain value.
package struct PairingOpening {
    /// Where reading stands.
    package enum Progress: Equatable {
        /// More bytes must come.
        case incomplete
        /// This cannot become an opening; close without an answer.
        case refused
        /// All is here, and nothing more: a joiner waits for our answer before it sends on.
        case complete(token: [UInt8]?, clientHello: [UInt8])
    }

    /// The type of a TLS record that holds a ClientHello (RFC 8446 section 5.1); no token begins with it.
    package static let recordType: UInt8 = 0x16

    /// Most bytes that are kept.
    package static let capacity = Gate.tokenCount + Gate.recordHeaderCount + Gate.maxRecordBody

    private var bytes: [UInt8] = []

    /// Nothing has come yet.
    package init() {}

    /// Adds what the connection delivered; nothing beyond `capacity` is ever kept.
    package mutating func append(_ more: [UInt8]) -> Progress {
        guard bytes.count + more.count <= Self.capacity else { return .refused }
        if bytes.isEmpty { bytes = more } else { bytes += more }
        guard let first = bytes.first else { return .incomplete }
        let tokenCount = first == Self.recordType ? 0 : Gate.tokenCount
        guard bytes.count >= tokenCount + Gate.recordHeaderCount else { return .incomplete }
        let clientHello = bytes.dropFirst(tokenCount)
        guard let body = Gate.recordBodyCount(header: Array(clientHello.prefix(Gate.recordHeaderCount))) else {
            return .refused
        }
        let missing = Gate.recordHeaderCount + body - clientHello.count
        guard missing >= 0 else { return .refused }
        guard missing == 0 else { return .incomplete }
        return .complete(
            token: tokenCount == 0 ? nil : Array(bytes.prefix(tokenCount)), clientHello: Array(clientHello))
    }
}
