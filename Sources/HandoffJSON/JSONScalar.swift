/// A type of the standard library that is one JSON value without members.
package protocol JSONScalar: Codable {
    /// Nil when the value is of another kind, or out of range.
    init?(json: JSON)

    /// The value in JSON.
    var json: JSON { get }
}

extension String: JSONScalar {
    package init?(json: JSON) {
        guard let text = json.string else { return nil }
        self = text
    }

    package var json: JSON { .string(self) }
}

extension Bool: JSONScalar {
    package init?(json: JSON) {
        guard let flag = json.bool else { return nil }
        self = flag
    }

    package var json: JSON { .bool(self) }
}

extension BinaryFloatingPoint where Self: JSONScalar {
    /// A number may be written without a fraction.
    package init?(json: JSON) {
        guard let number = json.number else { return nil }
        self.init(number)
    }

    package var json: JSON { .real(Double(self)) }
}

extension Double: JSONScalar {}
extension Float: JSONScalar {}

extension FixedWidthInteger where Self: JSONScalar {
    package init?(json: JSON) {
        guard let integer = json.integer else { return nil }
        self.init(exactly: integer)
    }

    /// Beyond the 64 bits of an integer in JSON it is the nearest of those.
    package var json: JSON { .integer(Int64(clamping: self)) }
}

// All that a container of `Codable` names: a type that is left out would be asked to code itself without end.
extension Int: JSONScalar {}
extension Int8: JSONScalar {}
extension Int16: JSONScalar {}
extension Int32: JSONScalar {}
extension Int64: JSONScalar {}
extension Int128: JSONScalar {}
extension UInt: JSONScalar {}
extension UInt8: JSONScalar {}
extension UInt16: JSONScalar {}
extension UInt32: JSONScalar {}
extension UInt64: JSONScalar {}
extension UInt128: JSONScalar {}
