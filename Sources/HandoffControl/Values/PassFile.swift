package import HandoffJSON
package import HandoffModel

/// The parameters of `PassFile`; the descriptor itself travels beside them.
package struct PassFileRequest: Sendable, Equatable {
    /// Which direction of the stream the file takes a part of; the raw value is the field `direction`.
    package enum Direction: String, Sendable, CaseIterable {
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

    /// Reads the parameters; throws `invalidParameter`, also for numbers out of range.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        stream = try fields.id("stream")
        guard let direction = Direction(rawValue: try fields.text("direction")) else {
            throw fields.invalid("direction")
        }
        self.direction = direction
        position = try fields.integer("position")
        guard position >= 0 else { throw fields.invalid("position") }
        length = try fields.optionalInteger("length").flatMap { Int(exactly: $0) }
        guard let length else { return }
        guard length >= 0, !position.addingReportingOverflow(length).overflow else { throw fields.invalid("length") }
    }

    /// The parameters on the socket; what is absent is left out.
    package var json: JSONObject {
        var json: JSONObject = [
            "stream": .string(stream.hex), "direction": .string(direction.rawValue),
            "position": .integer(Int64(position)),
        ]
        json["length"] = length.map { .integer(Int64($0)) }
        return json
    }
}

/// The results of `PassFile`.
package struct PassFileReply: Sendable, Equatable {
    /// Bytes that have moved so far: read and taken over by the stream, or written to the descriptor.
    package var moved: Int
    /// Whether that is all; false only in replies that continue.
    package var done: Bool

    /// Results with these values.
    package init(moved: Int, done: Bool) {
        self.moved = moved
        self.done = done
    }

    /// Reads the results; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        moved = try fields.integer("moved")
        guard moved >= 0 else { throw fields.invalid("moved") }
        done = try fields.flag("done")
    }

    /// The results on the socket.
    package var json: JSONObject {
        ["moved": .integer(Int64(moved)), "done": .bool(done)]
    }
}
