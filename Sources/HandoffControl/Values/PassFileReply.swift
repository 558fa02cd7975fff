package import HandoffJSON

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
