package import HandoffJSON

/// A value that is written as its description: in JSON, a string.
package protocol TextValue: LosslessStringConvertible, Codable {}

extension TextValue {
    /// The value as a JSON string.
    package var json: JSON { .string(description) }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "invalid \(Self.self)")
        }
        self = value
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
