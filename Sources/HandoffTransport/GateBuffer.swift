import HandoffAccount

/// The bytes of one connection before TLS: token and ClientHello record, at most 4,141. A plain value.
///
/// A pairing window takes a ClientHello alone, too, of a joiner that has only digits: no token begins as a record does.
package struct GateBuffer {
    /// Where reading stands.
    package enum Progress: Equatable {
        /// More bytes must come.
        case incomplete
        /// This cannot become token and record; close without an answer.
        case refused
        /// All is here, and nothing more: a client waits for our answer before it sends on.
        case complete(token: [UInt8]?, clientHello: [UInt8])
    }

    /// The type of a TLS record that holds a ClientHello (RFC 8446 section 5.1); no token of pairing begins with it.
    package static let recordType: UInt8 = 0x16

    private let tokenCount: Int
    private let mayOmitToken: Bool
    private var bytes: [UInt8] = []

    /// Nothing has arrived yet.
    ///
    /// - Parameters:
    ///   - tokenCount: bytes in front of the record.
    ///   - mayOmitToken: whether the record may be alone.
    package init(tokenCount: Int = Gate.tokenCount, mayOmitToken: Bool = false) {
        self.tokenCount = tokenCount
        self.mayOmitToken = mayOmitToken
    }

    /// Most bytes that are kept.
    package var capacity: Int { tokenCount + Gate.recordHeaderCount + Gate.maxRecordBody }

    /// Token and record of a caller that follows an earlier draft of version 1, once it was refused: its token has 32 bytes.
    package var former: (token: [UInt8], clientHello: [UInt8])? {
        let count = 32
        let header = bytes.dropFirst(count).prefix(Gate.recordHeaderCount)
        guard let body = Gate.recordBodyCount(header: Array(header)),
            bytes.count == count + Gate.recordHeaderCount + body
        else { return nil }
        return (Array(bytes[..<count]), Array(bytes[count...]))
    }

    /// Adds what the connection delivered; nothing beyond `capacity` is ever kept.
    package mutating func append(_ more: [UInt8]) -> Progress {
        guard bytes.count + more.count <= capacity else { return .refused }
        // Nearly always everything comes at once, and is then taken as it is.
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
