import HandoffJSON

/// Cuts received bytes into messages, each of which ends with a NUL.
package struct VarlinkFramer: Sendable {
    /// The longest message, in bytes without its NUL: many times the largest payload, and little enough to hold for
    /// each of the 256 connections.
    package static let maxMessage = 1_048_576

    private var buffer: [UInt8] = []
    /// Where the first message that was not taken begins.
    private var start = 0
    /// Up to where no NUL was found, so that no byte is looked at twice.
    private var searched = 0

    /// A framer that has received nothing.
    package init() {}

    /// How many bytes are held that belong to no message that was taken.
    package var buffered: Int {
        buffer.count - start
    }

    /// Adds received bytes; throws `messageTooLarge` when they begin a message that cannot end in time, after which
    /// the framer is of no use.
    ///
    /// Take all messages before adding more: only the message at the front is measured.
    package mutating func append(_ bytes: [UInt8]) throws(VarlinkError) {
        if start == buffer.count {
            // The usual case, one whole message in one read, shares the caller's storage.
            buffer = bytes
            start = 0
            searched = 0
        } else {
            buffer.append(contentsOf: bytes)
        }
        search()
        guard searched - start <= Self.maxMessage else { throw .messageTooLarge }
    }

    /// The next whole message without its NUL, or nil until there is one.
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
            // Moves at most as many bytes as were taken since the last time.
            buffer.removeSubrange(..<start)
            start = 0
            searched = 0
        }
        return message
    }

    /// The bytes after the last message that was taken, which are then no longer held: after an upgrade they are raw.
    package mutating func takeRest() -> [UInt8] {
        defer {
            buffer = []
            start = 0
            searched = 0
        }
        return Array(buffer[start...])
    }

    /// One message with its NUL.
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

/// What the other side of a Varlink connection did wrong.
package enum VarlinkError: Error, Equatable, Sendable {
    /// A message exceeds `VarlinkFramer.maxMessage`.
    case messageTooLarge
    /// A message is not JSON that is accepted, for this reason.
    case unreadable(String)
    /// A message is not the envelope of a call or reply, for this reason.
    case malformed(String)
    /// A parameter is missing or of the wrong type; its path, such as `activity.title`.
    case invalidParameter(String)
}

extension VarlinkError: CustomStringConvertible {
    /// A fragment for a log or an error line.
    package var description: String {
        switch self {
        case .messageTooLarge: "a message is longer than \(VarlinkFramer.maxMessage) bytes"
        case .unreadable(let problem), .malformed(let problem): "malformed message: \(problem)"
        case .invalidParameter(let path): "missing or invalid parameter '\(path)'"
        }
    }
}
