import HandoffModel

/// The configuration file's form: lines of `key = value`, `# comment`, `[section]`, or nothing.
package enum ConfigurationFile {
    /// The greatest file, in bytes: many times the longest sensible one, and small enough to be read at once.
    package static let byteLimit = 64 * 1024

    /// The greatest line, in bytes.
    package static let lineByteLimit = 1024

    /// The headings that may stand above settings. They are for the reader's eye: a key means the same under each.
    package static let sections = ["device", "network", "activities", "log"]

    /// Reads the settings of a file in their order. Values are not judged here.
    ///
    /// - Parameter path: what errors call the file.
    package static func parse(_ bytes: [UInt8], path: String) throws(ConfigurationError) -> [ConfigurationEntry] {
        var entries: [ConfigurationEntry] = []
        var first: [ConfigurationKey: ConfigurationEntry] = [:]
        for line in try lines(bytes, path: path, sections: sections) {
            guard let key = ConfigurationKey(rawValue: line.word) else {
                throw .unknownKey(line.word, path: path, line: line.number)
            }
            let entry = ConfigurationEntry(
                key: key, value: line.value, origin: .file(path: path, line: line.number))
            if let earlier = first[entry.key], !entry.key.isRepeatable {
                throw .repeatedKey(entry, first: earlier)
            }
            first[entry.key] = entry
            entries.append(entry)
        }
        return entries
    }

    /// A setting of a file whose key and value nobody has judged yet.
    struct Line: Equatable {
        /// The word before the equals sign.
        let word: String
        /// The value without surrounding spaces.
        let value: String
        /// The line, counted from 1.
        let number: Int
    }

    /// The settings of any file of this form, in their order.
    ///
    /// - Parameters:
    ///   - path: what errors call the file.
    ///   - sections: the headings that may stand in it.
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

    /// The setting of a line; nil for a comment, a heading and an empty line.
    private static func setting(
        _ bytes: ArraySlice<UInt8>, path: String, number: Int, sections: [String]
    ) throws(ConfigurationError) -> Line? {
        let line = bytes.withoutBlanks
        guard line.count <= lineByteLimit else {
            throw .notText(path: path, line: number, what: "the line is longer than \(lineByteLimit) bytes")
        }
        guard line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw .notText(path: path, line: number, what: "the line holds a control character")
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
