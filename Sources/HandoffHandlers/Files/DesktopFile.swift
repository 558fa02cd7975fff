import HandoffModel

/// The relevant content of a desktop entry (Desktop Entry Specification 1.5).
package struct DesktopFile: Sendable, Equatable {
    /// A value as written in the file, including escapes.
    struct Entry: Sendable, Equatable {
        /// The text after the equals sign.
        let raw: String
        /// The line number, from 1.
        let line: Int
    }

    /// The values of known keys in the group `[Desktop Entry]`. The key of a translation includes
    /// the language: `Name[de]`.
    private var entries: [String: Entry] = [:]

    private static let group = "Desktop Entry"
    /// The keys to keep. All others are skipped.
    private static let keys: Set<String> = [
        "Type", "Name", "Hidden", "TryExec", "Exec", "Icon", "DBusActivatable", "Path", "Terminal",
        "X-Handoff-ActivityTypes", "X-Handoff-ActivityVersions", "X-Handoff-TeamID", "X-Handoff-Domains",
        "X-Handoff-Exec",
    ]
    /// The prefix of Handoff's keys. Errors in files without it are not reported.
    private static let mark = Array("X-Handoff-".utf8)

    /// True if the bytes may declare anything for Handoff. Most desktop entries do not, and are not
    /// parsed.
    package static func mayDeclare(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "X")) {
            rest = rest[start...]
            if rest.starts(with: mark) { return true }
            rest = rest.dropFirst()
        }
        return false
    }

    /// Parses a file.
    ///
    /// - Throws: An error for the first invalid line in the group, or for a duplicate known key.
    package init(parsing bytes: [UInt8]) throws(HandlerFileError) {
        guard bytes.count <= HandlerLimits.fileBytes else {
            throw HandlerFileError(line: nil, "longer than \(HandlerLimits.fileBytes) bytes")
        }
        var current: String?
        var number = 0
        for part in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            guard let line = String(validating: part.withoutBlanks, as: UTF8.self) else {
                throw HandlerFileError(line: number, "not UTF-8")
            }
            guard let first = line.utf8.first, first != UInt8(ascii: "#") else { continue }
            if first == UInt8(ascii: "[") {
                current = try Self.header(line, number)
            } else if current == nil {
                throw HandlerFileError(line: number, "an entry before the first group")
            } else if current == Self.group {
                try take(line, number)
            }
        }
        guard current != nil else { throw HandlerFileError(line: nil, "no group [Desktop Entry]") }
    }

    /// Returns the value of a key, including escapes; nil if it is absent.
    func entry(_ key: String) -> Entry? { entries[key] }

    /// Returns a string (the type `string` of the specification); nil if the key is absent.
    package func text(_ key: String) throws(HandlerFileError) -> String? {
        guard let entry = entries[key] else { return nil }
        return try Self.unescaped(entry, of: key, isList: false).first
    }

    /// Returns a string in the best available language (the type `localestring`).
    package func text(_ key: String, in locale: DesktopLocale) throws(HandlerFileError) -> String? {
        for candidate in locale.candidates {
            if let translated = try text("\(key)[\(candidate)]"), !translated.isEmpty { return translated }
        }
        return try text(key)
    }

    /// Returns a list of strings, each terminated by a semicolon (the type `string(s)`); empty if
    /// the key is absent.
    package func list(_ key: String) throws(HandlerFileError) -> [String] {
        guard let entry = entries[key] else { return [] }
        return try Self.unescaped(entry, of: key, isList: true)
    }

    /// Returns a Boolean; false if the key is absent.
    func flag(_ key: String) throws(HandlerFileError) -> Bool {
        guard let entry = entries[key] else { return false }
        switch entry.raw {
        case "true": return true
        case "false": return false
        default: throw HandlerFileError(line: entry.line, "\(key) is neither true nor false")
        }
    }

    // MARK: - Reading

    private static func header(_ line: String, _ number: Int) throws(HandlerFileError) -> String {
        let name = line.utf8.dropFirst().dropLast()
        let isHeader =
            line.utf8.last == UInt8(ascii: "]") && line.utf8.count > 2
            && name.allSatisfy { $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") && $0 >= 0x20 }
        guard isHeader, let text = String(Substring(name)) as String? else {
            throw HandlerFileError(line: number, "a group that does not end with ]")
        }
        return text
    }

    private mutating func take(_ line: String, _ number: Int) throws(HandlerFileError) {
        guard let equals = line.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            throw HandlerFileError(line: number, "neither KEY=VALUE nor [group] nor # comment")
        }
        let key = Self.trimmedText(line[..<equals])
        guard !key.isEmpty else { throw HandlerFileError(line: number, "no key before =") }
        let plain = key.prefix { $0 != "[" }
        guard Self.keys.contains(String(plain)) else { return }
        guard entries[key] == nil else { throw HandlerFileError(line: number, "duplicate key \(key)") }
        entries[key] = Entry(raw: Self.trimmedText(line[line.utf8.index(after: equals)...]), line: number)
    }

    private static func unescaped(
        _ entry: Entry, of key: String, isList: Bool
    ) throws(HandlerFileError) -> [String] {
        var values: [String] = []
        var value = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in entry.raw.unicodeScalars {
            switch (isEscaped, scalar) {
            case (false, "\\"): isEscaped = true
            case (false, ";") where isList:
                values.append(String(value))
                value = String.UnicodeScalarView()
            case (false, _): value.append(scalar)
            case (true, _):
                isEscaped = false
                guard let meant = meaning(of: scalar, isList: isList) else {
                    throw HandlerFileError(line: entry.line, "an unknown escape in \(key)")
                }
                value.append(meant)
            }
        }
        if isEscaped { throw HandlerFileError(line: entry.line, "a backslash at the end of \(key)") }
        // The last element may lack its semicolon.
        if !isList || !value.isEmpty { values.append(String(value)) }
        return values
    }

    private static func meaning(of scalar: Unicode.Scalar, isList: Bool) -> Unicode.Scalar? {
        switch scalar {
        case "s": " "
        case "n": "\n"
        case "t": "\t"
        case "r": "\r"
        case "\\": "\\"
        case ";": isList ? ";" : nil
        default: nil
        }
    }

    private static func trimmedText(_ text: Substring) -> String {
        // Removing blanks keeps the text valid UTF-8.
        String(validating: ArraySlice(text.utf8).withoutBlanks, as: UTF8.self) ?? ""
    }
}
