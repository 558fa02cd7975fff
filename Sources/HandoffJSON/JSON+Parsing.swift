extension JSON {
    /// Parses a JSON document: RFC 8259, strict UTF-8, any value at the top level.
    ///
    /// In addition, it rejects duplicate keys in an object, NUL in keys (strings may contain it),
    /// integers beyond 64 bits, reals beyond the range of `Double`, and anything that exceeds the
    /// limits.
    package init(parsing bytes: [UInt8], limits: JSONLimits) throws(JSONError) {
        self = try bytes.withUnsafeBufferPointer { (text) throws(JSONError) in
            try JSONReader.read(text, limits: limits)
        }
    }

    /// Parses part of an array, such as a message inside a receive buffer, without copying it.
    package init(parsing bytes: ArraySlice<UInt8>, limits: JSONLimits) throws(JSONError) {
        self = try bytes.withUnsafeBufferPointer { (text) throws(JSONError) in
            try JSONReader.read(text, limits: limits)
        }
    }
}

/// The resource limits for parsing one JSON document. The parser checks them before it allocates
/// memory or recurses further.
package struct JSONLimits: Sendable, Equatable {
    /// The maximum length of the document, in bytes.
    package var bytes: Int
    /// The maximum number of arrays and objects that enclose a value.
    package var depth: Int
    /// The maximum number of members in one array or object.
    package var members: Int
    /// The maximum number of values in total, where an empty array or object counts as two. A value
    /// costs about 100 to 300 bytes of memory, however short its text is.
    package var values: Int

    /// Creates the limits for one source of documents.
    ///
    /// The defaults suit every source: a tagged `userInfo` takes 28 levels of JSON, and its
    /// envelopes take four more.
    package init(bytes: Int, depth: Int = 32, members: Int = 4096, values: Int = 65_536) {
        self.bytes = bytes
        self.depth = depth
        self.members = members
        self.values = values
    }
}

/// A reason for rejecting a JSON document.
package enum JSONError: Error, Equatable, Sendable {
    case tooLarge
    case tooDeep
    case tooManyMembers
    case tooManyValues
    /// The document violates the grammar or one of this parser's additional rules. The message
    /// never quotes the document. The position is a byte offset.
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
