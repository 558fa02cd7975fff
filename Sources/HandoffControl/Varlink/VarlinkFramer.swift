import HandoffJSON

/// Splits received bytes into messages, each of which ends with a NUL.
package struct VarlinkFramer: Sendable {
    /// Maximum length of a message in bytes, without its NUL. Many times the largest payload, yet
    /// small enough to buffer for each of the 256 connections.
    package static let maxMessage = 1_048_576

    private var buffer: [UInt8] = []
    /// The offset of the first message that has not been returned.
    private var start = 0
    /// The offset up to which there is no NUL, so that no byte is searched twice.
    private var searched = 0

    /// Creates an empty framer.
    package init() {}

    /// Number of buffered bytes that have not been returned.
    package var buffered: Int {
        buffer.count - start
    }

    /// Adds received bytes. Throws `messageTooLarge` if an unfinished message is too long; the
    /// framer is then unusable.
    ///
    /// Take all messages before adding more: only the first buffered message is measured.
    package mutating func append(_ bytes: [UInt8]) throws(VarlinkError) {
        if start == buffer.count {
            // The usual case of one whole message per read shares the caller's storage.
            buffer = bytes
            start = 0
            searched = 0
        } else {
            buffer.append(contentsOf: bytes)
        }
        search()
        guard searched - start <= Self.maxMessage else { throw .messageTooLarge }
    }

    /// Returns the next whole message without its NUL, or nil if there is none yet.
    package mutating func next() -> [UInt8]? {
        search()
        guard searched < buffer.count, searched - start <= Self.maxMessage else { return nil }
        let message = Array(buffer[start..<searched])
        start = searched + 1
        searched = start
        if start == buffer.count {
            buffer = []
            start = 0
            searched = 0
        } else if start > buffer.count / 2 {
            // Moves at most as many bytes as were returned since the last move.
            buffer.removeSubrange(..<start)
            start = 0
            searched = 0
        }
        return message
    }

    /// Returns and removes the bytes after the last returned message. After an upgrade they are
    /// raw.
    package mutating func takeRest() -> [UInt8] {
        defer {
            buffer = []
            start = 0
            searched = 0
        }
        return Array(buffer[start...])
    }

    /// Encodes one message with its NUL.
    static func frame(_ message: JSONObject) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4096)
        message.encode(into: &bytes)
        bytes.append(0)
        return bytes
    }

    /// Moves `searched` to the next NUL, or to the end.
    private mutating func search() {
        searched = buffer.firstIndex(of: 0, from: searched) ?? buffer.count
    }
}

/// A protocol violation by the peer of a Varlink connection.
package enum VarlinkError: Error, Equatable, Sendable {
    /// A message exceeds `VarlinkFramer.maxMessage`.
    case messageTooLarge
    /// A message is not acceptable JSON, with the reason.
    case unreadable(String)
    /// A message is not the envelope of a call or reply, with the reason.
    case malformed(String)
    /// A parameter is missing or has the wrong type. Contains its path, such as `activity.title`.
    case invalidParameter(String)
    /// A reply is an event that this version does not know.
    case unknownEvent(String)
}

extension VarlinkError: CustomStringConvertible {
    /// A fragment for a log or an error line.
    package var description: String {
        switch self {
        case .messageTooLarge: "a message is longer than \(VarlinkFramer.maxMessage) bytes"
        case .unreadable(let problem), .malformed(let problem): "malformed message: \(problem)"
        case .invalidParameter(let path): "missing or invalid parameter '\(path)'"
        case .unknownEvent(let name): "unknown event '\(name)'"
        }
    }
}
