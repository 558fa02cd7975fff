package import HandoffModel

/// The list of static peers: text for people, one `host:port` a line; empty lines and lines that begin with `#` are kept.
package struct PeersFile: Sendable, Equatable {
    /// Most bytes of a file.
    static let longest = 64 * 1024

    /// All lines, without their ends.
    private var lines: [String] = []

    /// A list of nobody.
    package init() {}

    /// Reads a file.
    ///
    /// - Throws: ``BadLine`` for the first line that is no address, is no UTF-8, or lacks its end: the file was cut off.
    package init(decoding bytes: [UInt8]) throws(BadLine) {
        var parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // A whole file ends with a line end, so the last part is empty.
        guard parts.popLast()?.isEmpty == true else { throw BadLine(number: parts.count + 1) }
        for (index, part) in parts.enumerated() {
            guard let line = String(validating: part, as: UTF8.self), Self.isNote(line) || Self.address(in: line) != nil
            else { throw BadLine(number: index + 1) }
            lines.append(line)
        }
    }

    /// That a line cannot be understood.
    package struct BadLine: Error, Equatable, Sendable {
        /// The line, from 1.
        package let number: Int
    }

    /// The file's bytes.
    package func encoded() -> [UInt8] {
        lines.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }
    }

    /// The addresses in the order of the file, each once.
    package var addresses: [StaticAddress] {
        var seen: Set<StaticAddress> = []
        return lines.compactMap(Self.address).filter { seen.insert($0).inserted }
    }

    /// The list with `address` at the end; the same list if it is there already.
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
