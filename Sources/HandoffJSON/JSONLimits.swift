/// What a JSON text may cost; checked before anything is allocated or any recursion begins.
package struct JSONLimits: Sendable, Equatable {
    /// The longest text, in bytes.
    package var bytes: Int
    /// How many arrays and objects may enclose a value.
    package var depth: Int
    /// How many members one array or object may have.
    package var members: Int
    /// How many values there may be in all, where an empty array or object counts as two: a value costs some 100 to
    /// 300 bytes of memory, whatever its text is.
    package var values: Int

    /// Limits for one source of texts.
    ///
    /// The defaults hold everywhere: a tagged `userInfo` takes 28 levels of JSON, and its envelopes take four more.
    package init(bytes: Int, depth: Int = 32, members: Int = 4096, values: Int = 65_536) {
        self.bytes = bytes
        self.depth = depth
        self.members = members
        self.values = values
    }
}
