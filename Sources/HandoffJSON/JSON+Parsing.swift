extension JSON {
    /// Parses a text: RFC 8259, strict UTF-8, any value at the top.
    ///
    /// Refused beyond that: a key that occurs twice in an object, a NUL in a key (in strings it is kept), integers
    /// beyond 64 bits, reals beyond the range of `Double`, and whatever exceeds the limits.
    package init(parsing bytes: [UInt8], limits: JSONLimits) throws(JSONError) {
        self = try bytes.withUnsafeBufferPointer { (text) throws(JSONError) in
            try JSON.parse(text, limits: limits)
        }
    }

    /// Parses a part of an array, such as a message inside a receive buffer, without copying it.
    package init(parsing bytes: ArraySlice<UInt8>, limits: JSONLimits) throws(JSONError) {
        self = try bytes.withUnsafeBufferPointer { (text) throws(JSONError) in
            try JSON.parse(text, limits: limits)
        }
    }

    private static func parse(_ text: UnsafeBufferPointer<UInt8>, limits: JSONLimits) throws(JSONError) -> JSON {
        if let plain = JSONPlainReader.read(text, limits: limits) { return plain }
        let scan = try JSONScan(text, limits: limits)
        guard !scan.cuts.isEmpty else {
            var reader = JanssonReader(scan)
            return try reader.read(text)
        }
        return try scan.reduced.withUnsafeBufferPointer { (reduced) throws(JSONError) in
            var reader = JanssonReader(scan)
            return try reader.read(reduced)
        }
    }
}

/// What a JSON text may cost; checked before anything beyond it is allocated, or any recursion goes deeper.
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

/// Why a text is no JSON that is accepted here.
package enum JSONError: Error, Equatable, Sendable {
    /// The text is longer than the limit.
    case tooLarge
    /// A value is enclosed by more arrays and objects than the limit.
    case tooDeep
    /// An array or an object has more members than the limit.
    case tooManyMembers
    /// There are more values in all than the limit.
    case tooManyValues
    /// The text breaks the grammar or a rule of ours. The message never quotes the text; position is a byte offset.
    case syntax(message: String, position: Int)
}

extension JSONError: CustomStringConvertible {
    /// A fragment for an error message.
    package var description: String {
        switch self {
        case .tooLarge: "the JSON text is too long"
        case .tooDeep: "the JSON text is nested too deep"
        case .tooManyMembers: "an array or object has too many members"
        case .tooManyValues: "the JSON text has too many values"
        case .syntax(let message, let position): "\(message) at byte \(position)"
        }
    }
}
