package import HandoffModel

/// The parameters of `KeepContent`: a part of the file in the copies of an activity.
package struct KeepContentRequest: ControlRequest {
    /// The maximum number of bytes in one call.
    package static let maxData = 512 * 1024

    /// The session of the app.
    package var session: String
    /// The activity.
    package var activity: ActivityID
    /// The name of the file.
    package var name: String
    /// The size of the complete file in bytes.
    package var size: Int
    /// The number of bytes sent before.
    package var offset: Int
    /// The next bytes, in base64.
    package var data: String

    package init(session: String, activity: ActivityID, name: String, size: Int, offset: Int, data: [UInt8]) {
        self.session = session
        self.activity = activity
        self.name = name
        self.size = size
        self.offset = offset
        self.data = Base64.encode(data)
    }

    /// Checks the name, the numbers and the encoding.
    package func check() throws(VarlinkError) {
        guard (1...Limits.title).contains(name.utf8.count) else { throw .invalidParameter("name") }
        guard size >= 0 else { throw .invalidParameter("size") }
        guard (0...size).contains(offset) else { throw .invalidParameter("offset") }
        guard let bytes, bytes.count <= Self.maxData else { throw .invalidParameter("data") }
    }

    /// The decoded bytes; nil if they are invalid.
    package var bytes: [UInt8]? { Base64.decode(data) }
}

/// The parameters of `ReadContent`.
package struct ReadContentRequest: ControlRequest {
    /// The continuation of the activity.
    package var continuation: ContinuationID
    /// The position in the file, in bytes.
    package var offset: Int

    package init(continuation: ContinuationID, offset: Int) {
        self.continuation = continuation
        self.offset = offset
    }

    /// Checks that the position is not negative.
    package func check() throws(VarlinkError) {
        guard offset >= 0 else { throw .invalidParameter("offset") }
    }
}

/// The reply to `ReadContent`: a part of the file in a copy.
package struct ReadContentReply: ControlValue {
    /// The bytes, in base64.
    package var data: String
    /// The size of the complete file in bytes.
    package var size: Int

    package init(data: [UInt8], size: Int) {
        self.data = Base64.encode(data)
        self.size = size
    }

    /// The decoded bytes; nil if they are invalid.
    package var bytes: [UInt8]? { Base64.decode(data) }
}
