import HandoffAccount

/// The bytes of one connection before TLS: token and ClientHello record, at most 4,141 bytes. A
/// plain value.
///
/// A pairing window also accepts a ClientHello without a token, from a joiner that has only digits.
/// No token starts like a record.
package struct GateBuffer {
    /// The result of adding bytes.
    package enum Progress: Equatable {
        /// More bytes are needed.
        case incomplete
        /// Not a token and a record. Close without a reply.
        case refused
        /// Token and record are complete, without further bytes: a client waits for our reply
        /// before it sends more.
        case complete(token: [UInt8]?, clientHello: [UInt8])
    }

    /// The type of a TLS record that contains a ClientHello (RFC 8446 section 5.1). No pairing
    /// token starts with it.
    static let recordType: UInt8 = 0x16

    private let tokenCount: Int
    private let mayOmitToken: Bool
    private var bytes: [UInt8] = []

    /// Creates an empty buffer.
    ///
    /// - Parameters:
    ///   - tokenCount: the number of bytes before the record.
    ///   - mayOmitToken: true if the record may be sent without a token.
    package init(tokenCount: Int = Gate.tokenCount, mayOmitToken: Bool = false) {
        self.tokenCount = tokenCount
        self.mayOmitToken = mayOmitToken
    }

    /// The maximum number of stored bytes.
    package var capacity: Int { tokenCount + Gate.recordHeaderCount + Gate.maxRecordBody }

    /// The token and record of a rejected caller that uses an earlier draft of version 1, whose
    /// tokens have 32 bytes.
    var former: (token: [UInt8], clientHello: [UInt8])? {
        let count = 32
        let header = bytes.dropFirst(count).prefix(Gate.recordHeaderCount)
        guard let body = Gate.recordBodyCount(header: Array(header)),
            bytes.count == count + Gate.recordHeaderCount + body
        else { return nil }
        return (Array(bytes[..<count]), Array(bytes[count...]))
    }

    /// Adds received bytes. Never stores more than `capacity`.
    package mutating func append(_ more: [UInt8]) -> Progress {
        guard bytes.count + more.count <= capacity else { return .refused }
        // Usually all bytes arrive at once. Then use the array without copying it.
        if bytes.isEmpty { bytes = more } else { bytes += more }
        guard let first = bytes.first else { return .incomplete }
        let tokenCount = mayOmitToken && first == Self.recordType ? 0 : self.tokenCount
        guard bytes.count >= tokenCount + Gate.recordHeaderCount else { return .incomplete }
        let token = tokenCount == 0 ? nil : Array(bytes[..<tokenCount])
        let clientHello = bytes[tokenCount...]
        guard let body = Gate.recordBodyCount(header: Array(clientHello.prefix(Gate.recordHeaderCount))) else {
            return .refused
        }
        let missing = Gate.recordHeaderCount + body - clientHello.count
        guard missing >= 0 else { return .refused }
        return missing > 0 ? .incomplete : .complete(token: token, clientHello: Array(clientHello))
    }
}
