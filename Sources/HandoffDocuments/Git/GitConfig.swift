/// A minimal parser of Git configuration files that finds the remote of a checkout (git-config(1),
/// "Syntax").
package enum GitConfig {
    /// The maximum size of a file in bytes.
    package static let byteLimit = 262_144

    /// Returns the address of the remote `origin`, or the first of several, or nil if there is
    /// none.
    package static func origin(_ bytes: [UInt8]) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else { return nil }
        var isOrigin = false
        for line in lines(text) {
            var rest = line.drop(while: isBlank)
            if rest.first == "[" {
                guard let (header, after) = header(rest) else { return nil }
                isOrigin = header
                rest = after.drop(while: isBlank)
            }
            guard isOrigin, let equals = rest.firstIndex(of: "=") else { continue }
            let key = rest[..<equals].filter { !isBlank($0) }
            guard String(key).lowercased() == "url" else { continue }
            let value = value(rest[rest.index(after: equals)...])
            if !value.isEmpty { return value }
        }
        return nil
    }

    /// Returns the lines. A line that ends with a backslash is joined with the next.
    private static func lines(_ text: String) -> [Substring.UnicodeScalarView] {
        var lines: [Substring.UnicodeScalarView] = []
        var held = ""
        for line in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = Substring(line)
            if line.unicodeScalars.last == "\r" { line.unicodeScalars.removeLast() }
            let isContinued = line.unicodeScalars.reversed().prefix { $0 == "\\" }.count % 2 == 1
            if isContinued { line.unicodeScalars.removeLast() }
            held += line
            guard !isContinued else { continue }
            lines.append(Substring(held).unicodeScalars)
            held = ""
        }
        if !held.isEmpty { lines.append(Substring(held).unicodeScalars) }
        return lines
    }

    /// Parses a heading. Returns true for the remote `origin`, and the text after the heading, or
    /// nil if the heading is not terminated.
    private static func header(
        _ line: Substring.UnicodeScalarView
    ) -> (isOrigin: Bool, rest: Substring.UnicodeScalarView)? {
        var inside = ""
        var quoted = ""
        var isQuoted = false
        var isEscaped = false
        for (place, scalar) in zip(line.indices, line).dropFirst() {
            if isQuoted, isEscaped || scalar != "\"" {
                if !isEscaped, scalar == "\\" {
                    isEscaped = true
                } else {
                    quoted.unicodeScalars.append(scalar)
                    isEscaped = false
                }
            } else if scalar == "\"" {
                guard !isQuoted else {
                    // After the closing quote, only the bracket may follow.
                    let after = line[line.index(after: place)...].drop(while: isBlank)
                    guard after.first == "]" else { return nil }
                    let section = inside.lowercased().filter { $0 != " " && $0 != "\t" }
                    return (section == "remote" && quoted == "origin", after.dropFirst())
                }
                isQuoted = true
            } else if scalar == "]" {
                return (inside.lowercased() == "remote.origin", line[line.index(after: place)...])
            } else {
                inside.unicodeScalars.append(scalar)
            }
        }
        return nil
    }

    /// Returns a value with quotes and escapes resolved, without comments and surrounding blanks.
    private static func value(_ text: Substring.UnicodeScalarView) -> String {
        var value = ""
        // The length without trailing blanks. Trimming the value itself would copy it at each
        // character.
        var kept = 0
        var isQuoted = false
        var isEscaped = false
        for scalar in text.drop(while: isBlank) {
            if isEscaped {
                isEscaped = false
                value.unicodeScalars.append(scalar == "n" ? "\n" : scalar == "t" ? "\t" : scalar)
            } else if scalar == "\\" {
                isEscaped = true
                continue
            } else if scalar == "\"" {
                isQuoted.toggle()
            } else if !isQuoted, scalar == "#" || scalar == ";" {
                break
            } else {
                value.unicodeScalars.append(scalar)
            }
            if isQuoted || !isBlank(scalar) { kept = value.utf8.count }
        }
        return String(decoding: value.utf8.prefix(kept), as: UTF8.self)
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
}
