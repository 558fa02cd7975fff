import HandoffJSON
import HandoffModel

/// Reserved values without a meaning, which a receiver must ignore (the idea of RFC 8701).
///
/// Programs that never receive an unknown value start to reject them, and then nothing can be added to the protocol. The
/// values are random, so they identify no device. docs/protocol.md, "Reserved values", lists them.
package struct Grease: Sendable, Equatable {
    /// The rate at which reserved values are sent.
    package enum Rate: Sendable, Equatable {
        /// Not at all, as in tests that compare bytes.
        case never
        /// In one of ``rareness`` connections, announcements and records.
        case rarely
        /// In each.
        case always

        /// The reserved values of one connection, announcement or record; nil for most.
        package func draw(using random: inout some RandomNumberGenerator) -> Grease? {
            switch self {
            case .never: return nil
            case .rarely: guard UInt32.random(in: 0..<Grease.rareness, using: &random) == 0 else { return nil }
            case .always: break
            }
            return Grease(number: UInt8.random(in: 0...255, using: &random))
        }

        /// ``draw(using:)`` with the system's randomness.
        package func draw() -> Grease? {
            var random = SystemRandomNumberGenerator()
            return draw(using: &random)
        }
    }

    /// Of so many connections, announcements and records one has reserved values.
    package static let rareness: UInt32 = 16

    /// The flag of announcements and activities.
    package static let flag: UInt8 = 0x80

    /// The first of the kinds of frames; there are 16.
    package static let firstFrameKind: UInt8 = 0xF0

    /// Decides which of the reserved values are sent.
    let number: UInt8

    /// Two hexadecimal digits.
    private var digits: String { Hex.encode([number]) }

    /// Name of a member of a message, and a capability.
    package var name: String { "grease" + digits }

    /// A string of a TXT record: 7 bytes, a key without a value.
    package var string: [UInt8] { Array("grease\(digits.suffix(1))".utf8) }

    /// A frame without a meaning, of up to 15 bytes of body.
    package var frame: Frame {
        Frame(code: Self.firstFrameKind | number >> 4, body: [UInt8](repeating: number, count: Int(number & 15)))
    }

    /// The value of the member: of any type, as a receiver must not look at it.
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
    /// Adds the reserved member.
    mutating func add(_ grease: Grease?) {
        if let grease { self[grease.name] = grease.value }
    }
}
