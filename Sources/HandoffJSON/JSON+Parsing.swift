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
