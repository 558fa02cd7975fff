package import HandoffJSON

/// The results of `ReadLog`: some entries, and whether there are more.
package struct ControlLogPage: Sendable, Equatable {
    /// The entries, the oldest first.
    package var entries: [ControlLogEntry]
    /// Whether later ones follow.
    package var hasMore: Bool

    /// Results with these properties.
    package init(entries: [ControlLogEntry], hasMore: Bool) {
        self.entries = entries
        self.hasMore = hasMore
    }

    /// Reads the results; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        var entries: [ControlLogEntry] = []
        for entry in try fields.list("entries") { entries.append(try ControlLogEntry(entry)) }
        self.init(entries: entries, hasMore: try fields.flag("hasMore"))
    }

    /// The results on the socket.
    package var json: JSONObject {
        ["entries": .array(entries.map { .object($0.json) }), "hasMore": .bool(hasMore)]
    }
}
