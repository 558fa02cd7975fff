/// As much of git's configuration files as it takes to know where a checkout came from (git-config(1), "Syntax").
package enum GitConfig {
    /// The greatest file that is read, in bytes.
    package static let byteLimit = 262_144

    /// The address of the remote `origin`, the first when there are several; nil when there is none.
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

    /// The lines, those joined that end with a backslash.
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

    /// Whether a heading is that of the remote `origin`, and what follows it; nil when it does not end.
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
                    // The end of the name: only the bracket may follow.
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

    /// A value: quotes and escapes resolved, without a comment and the blanks around it.
    private static func value(_ text: Substring.UnicodeScalarView) -> String {
        var value = ""
        // How much of it is more than blanks at the end; the value itself would be copied at each character.
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
