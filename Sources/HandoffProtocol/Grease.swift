import HandoffJSON
import HandoffModel

/// Reserved values without a meaning, which receivers must ignore (the idea of RFC 8701).
///
/// Programs that never receive an unknown value start to reject unknown values, and then the
/// protocol cannot be extended. The values are random, so they identify no device.
/// docs/protocol.md, "Reserved values", lists them.
package struct Grease: Sendable, Equatable {
    /// The rate at which reserved values are sent.
    package enum Rate: Sendable, Equatable {
        /// Never, as in tests that compare bytes.
        case never
        /// In one of ``averageInterval`` connections, announcements and records.
        case rarely
        case always

        /// Returns the reserved values of one connection, announcement or record; nil for most.
        package func draw(using random: inout some RandomNumberGenerator) -> Grease? {
            switch self {
            case .never: return nil
            case .rarely: guard UInt32.random(in: 0..<Grease.averageInterval, using: &random) == 0 else { return nil }
            case .always: break
            }
            return Grease(number: UInt8.random(in: 0...255, using: &random))
        }

        /// Returns ``draw(using:)`` with the system's random number generator.
        package func draw() -> Grease? {
            var random = SystemRandomNumberGenerator()
            return draw(using: &random)
        }
    }

    /// The number of connections, announcements and records of which one has reserved values.
    static let averageInterval: UInt32 = 16

    /// The flag of announcements and activities.
    static let flag: UInt8 = 0x80

    /// The first of the 16 reserved frame kinds.
    static let firstFrameKind: UInt8 = 0xF0

    /// Selects the reserved values to send.
    let number: UInt8

    private var digits: String { Hex.encode([number]) }

    /// The name of a message member, and a capability.
    package var name: String { "grease" + digits }

    /// A string of a TXT record: 7 bytes, a key without a value.
    package var string: [UInt8] { Array("grease\(digits.suffix(1))".utf8) }

    /// A frame without a meaning, with up to 15 bytes of body.
    package var frame: Frame {
        Frame(code: Self.firstFrameKind | number >> 4, body: [UInt8](repeating: number, count: Int(number & 15)))
    }

    /// The value of the member. Its type varies, because receivers must not examine it.
    var value: JSON {
        switch number & 3 {
        case 0: .integer(Int64(number))
        case 1: .string(digits)
        case 2: .array([.bool(true)])
        default: .object(["a": .integer(1)])
        }
    }
}

extension JSONObject {
    mutating func add(_ grease: Grease?) {
        if let grease { self[grease.name] = grease.value }
    }
}
