package import HandoffModel

/// The parameters of `PassFile`. The descriptor is sent with the message.
package struct PassFileRequest: ControlRequest {
    /// The direction of the stream that the file replaces a part of. The raw value is the field
    /// `direction`.
    package enum Direction: String, Codable, Sendable, CaseIterable {
        /// Data that this app sends is read from the file.
        case send
        /// Data that the other app sends is written to the file.
        case receive
    }

    /// The stream.
    package var stream: StreamID
    /// The direction.
    package var direction: Direction
    /// Number of bytes of the direction before those of the file; not negative.
    package var position: Int
    /// Number of bytes of the file; not negative, and its sum with `position` fits `Int`. Nil for
    /// all.
    package var length: Int?

    package init(stream: StreamID, direction: Direction, position: Int, length: Int?) {
        self.stream = stream
        self.direction = direction
        self.position = position
        self.length = length
    }

    /// Checks that the numbers are in range.
    package func check() throws(VarlinkError) {
        guard position >= 0 else { throw .invalidParameter("position") }
        guard let length else { return }
        guard length >= 0, !position.addingReportingOverflow(length).overflow else { throw .invalidParameter("length") }
    }
}

/// The results of `PassFile`.
package struct PassFileReply: ControlValue {
    /// Bytes transferred so far: read and accepted by the stream, or written to the descriptor.
    package var moved: Int
    /// True if the transfer is complete; false only in replies that continue.
    package var done: Bool

    package init(moved: Int, done: Bool) {
        self.moved = moved
        self.done = done
    }

    /// Checks that no number is negative.
    package func check() throws(VarlinkError) {
        guard moved >= 0 else { throw .invalidParameter("moved") }
    }
}
