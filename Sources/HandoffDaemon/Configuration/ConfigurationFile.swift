import HandoffModel

/// The format of configuration files: lines of `key = value`, `# comment`, `[section]`, or nothing.
package enum ConfigurationFile {
    /// The maximum size of a file in bytes: far above any sensible size, and small enough to be
    /// read in one piece.
    package static let byteLimit = 64 * 1024

    /// The maximum length of a line in bytes.
    static let lineByteLimit = 1024

    /// The allowed headings. They are optional and do not change the meaning of keys.
    static let sections = Setting.Section.allCases.map(\.rawValue)

    /// Parses the settings of a file, in order. Does not validate values.
    ///
    /// - Parameter path: the path in error messages.
    package static func parse(_ bytes: [UInt8], path: String) throws(ConfigurationError) -> [ConfigurationEntry] {
        var entries: [ConfigurationEntry] = []
        var first: [Setting: ConfigurationEntry] = [:]
        for line in try lines(bytes, path: path, sections: sections) {
            guard let setting = Setting.named(line.word) else {
                throw .unknownKey(line.word, path: path, line: line.number)
            }
            let entry = ConfigurationEntry(
                setting: setting, value: line.value, origin: .file(path: path, line: line.number))
            if let earlier = first[setting], !setting.isRepeatable {
                throw .repeatedKey(entry, first: earlier)
            }
            first[setting] = entry
            entries.append(entry)
        }
        return entries
    }

    /// A setting whose key and value have not been validated.
    struct Line: Equatable {
        /// The key.
        let word: String
        /// The value without surrounding spaces.
        let value: String
        /// The line number, counted from 1.
        let number: Int
    }

    /// Returns the settings of a file of this format, in order.
    ///
    /// - Parameters:
    ///   - path: the path in error messages.
    ///   - sections: the allowed headings.
    static func lines(
        _ bytes: [UInt8], path: String, sections: [String]
    ) throws(ConfigurationError) -> [Line] {
        guard bytes.count <= byteLimit else { throw .tooLarge(path: path) }
        var lines: [Line] = []
        var number = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            if let line = try setting(line, path: path, number: number, sections: sections) { lines.append(line) }
        }
        return lines
    }

    /// Parses a line. Returns nil for a comment, a heading or an empty line.
    private static func setting(
        _ bytes: ArraySlice<UInt8>, path: String, number: Int, sections: [String]
    ) throws(ConfigurationError) -> Line? {
        let line = bytes.withoutBlanks
        guard line.count <= lineByteLimit else {
            throw .notText(path: path, line: number, what: "the line is longer than \(lineByteLimit) bytes")
        }
        guard line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw .notText(path: path, line: number, what: "the line contains a control character")
        }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw .notText(path: path, line: number, what: "the line is not valid UTF-8")
        }
        guard let opening = line.first, opening != UInt8(ascii: "#") else { return nil }
        if opening == UInt8(ascii: "[") {
            guard line.last == UInt8(ascii: "]") else { throw .unreadableLine(path: path, line: number) }
            let name = String(text.dropFirst().dropLast())
            guard sections.contains(name) else {
                throw .unknownSection(name, path: path, line: number, sections: sections)
            }
            return nil
        }
        guard let equals = line.firstIndex(of: UInt8(ascii: "=")), equals > line.startIndex,
            let word = String(validating: line[..<equals].withoutBlanks, as: UTF8.self),
            let value = String(validating: line[(equals + 1)...].withoutBlanks, as: UTF8.self)
        else { throw .unreadableLine(path: path, line: number) }
        return Line(word: word, value: value, number: number)
    }
}
