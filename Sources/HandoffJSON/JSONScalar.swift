/// A standard library type that is encoded as one JSON value without members.
package protocol JSONScalar: Codable {
    /// Returns the value, or nil if the JSON has the wrong type or is out of range.
    static func value(of json: JSON) -> Self?

    var json: JSON { get }
}

extension String: JSONScalar {
    package static func value(of json: JSON) -> String? { json.string }
    package var json: JSON { .string(self) }
}

extension Bool: JSONScalar {
    package static func value(of json: JSON) -> Bool? { json.bool }
    package var json: JSON { .bool(self) }
}

extension BinaryFloatingPoint where Self: JSONScalar {
    /// Accepts a number written without a fraction.
    package static func value(of json: JSON) -> Self? { json.number.map { Self($0) } }
    package var json: JSON { .real(Double(self)) }
}

extension FixedWidthInteger where Self: JSONScalar {
    package static func value(of json: JSON) -> Self? { json.integer.flatMap { Self(exactly: $0) } }
    /// The value as a JSON integer, clamped to 64 bits.
    package var json: JSON { .integer(Int64(clamping: self)) }
}

// All types that a container of `Codable` must support: for a missing one, the default
// implementation would recurse without end. 128-bit integers are rejected.
extension Double: JSONScalar {}
extension Float: JSONScalar {}
extension Int: JSONScalar {}
extension Int8: JSONScalar {}
extension Int16: JSONScalar {}
extension Int32: JSONScalar {}
extension Int64: JSONScalar {}
extension UInt: JSONScalar {}
extension UInt8: JSONScalar {}
extension UInt16: JSONScalar {}
extension UInt32: JSONScalar {}
extension UInt64: JSONScalar {}
