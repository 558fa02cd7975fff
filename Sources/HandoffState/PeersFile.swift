package import HandoffModel

/// The list of static peers. A text file for people with one `host:port` on each line. Empty lines
/// and lines that begin with `#` are kept.
package struct PeersFile: Sendable, Equatable {
    /// Maximum size of a file in bytes.
    static let maxFile = 64 * 1024

    /// All lines, without newlines.
    private var lines: [String] = []

    /// Creates an empty list.
    package init() {}

    /// Decodes a file.
    ///
    /// - Throws: ``BadLine`` for the first line that is not an address, is not UTF-8, or is
    ///   truncated.
    package init(decoding bytes: [UInt8]) throws(BadLine) {
        var parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // A complete file ends with a newline, so the last part is empty.
        guard parts.popLast()?.isEmpty == true else { throw BadLine(number: parts.count + 1) }
        for (index, part) in parts.enumerated() {
            guard let line = String(validating: part, as: UTF8.self), Self.isNote(line) || Self.address(in: line) != nil
            else { throw BadLine(number: index + 1) }
            lines.append(line)
        }
    }

    /// An invalid line.
    package struct BadLine: Error, Equatable, Sendable {
        /// The line number, from 1.
        package let number: Int
    }

    /// Encodes the file.
    package func encoded() -> [UInt8] {
        lines.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }
    }

    /// The addresses in the order of the file, without duplicates.
    package var addresses: [StaticAddress] {
        var seen: Set<StaticAddress> = []
        return lines.compactMap(Self.address).filter { seen.insert($0).inserted }
    }

    /// The list with `address` appended, or the same list if it already contains the address.
    package func adding(_ address: StaticAddress) -> PeersFile {
        guard !addresses.contains(address) else { return self }
        var next = self
        next.lines.append(address.text)
        return next
    }

    /// The list without `address`.
    package func removing(_ address: StaticAddress) -> PeersFile {
        var next = self
        next.lines.removeAll { Self.address(in: $0) == address }
        return next
    }

    private static func isNote(_ line: String) -> Bool {
        let text = ArraySlice(line.utf8).withoutBlanks
        return text.isEmpty || text.first == UInt8(ascii: "#")
    }

    private static func address(in line: String) -> StaticAddress? {
        isNote(line)
            ? nil : String(validating: ArraySlice(line.utf8).withoutBlanks, as: UTF8.self).flatMap(StaticAddress.init)
    }
}
