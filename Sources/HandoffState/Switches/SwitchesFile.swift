import HandoffControl
import HandoffModel

/// The file of the switches. A text file for people with a line for each setting that is off, such
/// as `advertise all 1700000000 1700003600`.
///
/// The fields are the direction; `all` or the id of a device; and since when and until when it is
/// off, in seconds since 1970, or `forever`.
extension Switches {
    /// Maximum size of a file in bytes, enough for the maximum number of lines.
    static let maxFile = 128 * 1024

    /// An invalid line.
    package struct BadLine: Error, Equatable, Sendable {
        /// The line number, from 1.
        package let number: Int
    }

    /// Decodes a file.
    ///
    /// - Throws: ``BadLine`` for the first line that is invalid or truncated.
    package init(decoding bytes: [UInt8]) throws(BadLine) {
        self.init()
        var parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard parts.popLast()?.isEmpty == true else { throw BadLine(number: parts.count + 1) }
        for (index, part) in parts.enumerated() {
            guard part.first != UInt8(ascii: "#"), !part.isEmpty else { continue }
            guard let (place, off) = Self.line(part), add(place, off) else { throw BadLine(number: index + 1) }
        }
    }

    /// Encodes the file.
    package func encoded() -> [UInt8] {
        let lines = entries.map { place, off in
            let until = off.until.map { "\($0)" } ?? Self.forever
            return "\(place.direction.rawValue) \(place.device?.hex ?? Self.all) \(off.since) \(until)\n"
        }
        return Array(lines.joined().utf8)
    }

    private static let all = "all"
    private static let forever = "forever"

    private static func line(_ bytes: ArraySlice<UInt8>) -> (Place, Off)? {
        let words = bytes.split(separator: UInt8(ascii: " ")).compactMap { String(validating: $0, as: UTF8.self) }
        guard words.count == 4, let direction = SwitchDirection(rawValue: words[0]) else { return nil }
        let device = DeviceID(hex: words[1])
        guard device != nil || words[1] == all, let since = UInt64(words[2]) else { return nil }
        let until = UInt64(words[3])
        guard until != nil || words[3] == forever else { return nil }
        return (Place(direction, device), Off(since: since, until: until))
    }
}
