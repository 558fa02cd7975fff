/// A type of the standard library that is one JSON value without members.
package protocol JSONScalar: Codable {
    /// The value; nil when the JSON is of another kind, or out of range.
    static func value(of json: JSON) -> Self?

    /// The value in JSON.
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
    /// A number may be written without a fraction.
    package static func value(of json: JSON) -> Self? { json.number.map { Self($0) } }
    package var json: JSON { .real(Double(self)) }
}

extension FixedWidthInteger where Self: JSONScalar {
    package static func value(of json: JSON) -> Self? { json.integer.flatMap { Self(exactly: $0) } }
    /// Beyond the 64 bits of an integer in JSON it is the nearest of those.
    package var json: JSON { .integer(Int64(clamping: self)) }
}

// All that a container of `Codable` must name: one that is left out would be asked to code itself without end. Integers of 128
// bits are refused.
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
