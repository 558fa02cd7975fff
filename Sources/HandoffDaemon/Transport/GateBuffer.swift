import HandoffAccount

/// The bytes of one connection before the gate: token and ClientHello record, at most 1,061. A plain value.
package struct GateBuffer {
    /// Where reading stands.
    package enum Progress: Equatable {
        /// More bytes must come.
        case incomplete
        /// This cannot become token and record; close without an answer.
        case refused
        /// All is here, and nothing more: a client waits for our answer before it sends on.
        case complete(token: [UInt8], clientHello: [UInt8])
    }

    /// Most bytes that are kept.
    package static let capacity = headCount + Gate.maxRecordBody

    private static let headCount = Gate.tokenCount + Gate.recordHeaderCount

    private var bytes: [UInt8] = []

    /// Nothing has come yet.
    package init() {}

    /// Adds what the connection delivered; nothing beyond `capacity` is ever kept.
    package mutating func append(_ more: [UInt8]) -> Progress {
        guard bytes.count + more.count <= Self.capacity else { return .refused }
        // Nearly always everything comes at once, and is then taken as it is.
        if bytes.isEmpty { bytes = more } else { bytes += more }
        guard bytes.count >= Self.headCount else { return .incomplete }
        let token = bytes[..<Gate.tokenCount]
        let clientHello = bytes[Gate.tokenCount...]
        guard let body = Gate.recordBodyCount(header: Array(clientHello.prefix(Gate.recordHeaderCount))) else {
            return .refused
        }
        let missing = Gate.recordHeaderCount + body - clientHello.count
        guard missing >= 0 else { return .refused }
        return missing > 0 ? .incomplete : .complete(token: Array(token), clientHello: Array(clientHello))
    }
}
