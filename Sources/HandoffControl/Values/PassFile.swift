package import HandoffModel

/// The parameters of `PassFile`; the descriptor itself travels beside them.
package struct PassFileRequest: ControlRequest {
    /// Which direction of the stream the file takes a part of; the raw value is the field `direction`.
    package enum Direction: String, Codable, Sendable, CaseIterable {
        /// What this app sends is read from the file.
        case send
        /// What the other app sends is written to the file.
        case receive
    }

    /// The stream.
    package var stream: StreamID
    /// The direction.
    package var direction: Direction
    /// Bytes of the direction before those of the file; not negative.
    package var position: Int
    /// Bytes of the file; not negative, and `position` added to it is an `Int`. Nil for all that come.
    package var length: Int?

    /// A part of a direction.
    package init(stream: StreamID, direction: Direction, position: Int, length: Int?) {
        self.stream = stream
        self.direction = direction
        self.position = position
        self.length = length
    }

    /// The numbers are in range.
    package func check() throws(VarlinkError) {
        guard position >= 0 else { throw .invalidParameter("position") }
        guard let length else { return }
        guard length >= 0, !position.addingReportingOverflow(length).overflow else { throw .invalidParameter("length") }
    }
}

/// The results of `PassFile`.
package struct PassFileReply: ControlValue {
    /// Bytes that have moved so far: read and taken over by the stream, or written to the descriptor.
    package var moved: Int
    /// Whether that is all; false only in replies that continue.
    package var done: Bool

    /// Results with these values.
    package init(moved: Int, done: Bool) {
        self.moved = moved
        self.done = done
    }

    /// No number is negative.
    package func check() throws(VarlinkError) {
        guard moved >= 0 else { throw .invalidParameter("moved") }
    }
}
