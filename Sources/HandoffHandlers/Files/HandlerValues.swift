import HandoffModel

/// The rules for values in both kinds of files.
enum HandlerValues {
    static func types(_ texts: [String], at line: Int?) throws(HandlerFileError) -> Set<ActivityType> {
        guard texts.count <= HandlerLimits.types else {
            throw HandlerFileError(line: line, "more than \(HandlerLimits.types) types")
        }
        var types: Set<ActivityType> = []
        for text in texts where !text.isEmpty {
            guard let type = ActivityType(text) else {
                throw HandlerFileError(
                    line: line,
                    "\(VisibleText.escape(clipped(text))) is not an activity type: \(ActivityType.rule)")
            }
            types.insert(type)
        }
        return types
    }

    static func versions(_ texts: [String], at line: Int?) throws(HandlerFileError) -> [ActivityType: VersionRange] {
        guard texts.count <= HandlerLimits.types else {
            throw HandlerFileError(line: line, "versions of more than \(HandlerLimits.types) types")
        }
        var versions: [ActivityType: VersionRange] = [:]
        for text in texts where !text.isEmpty {
            guard let (type, range) = VersionRange.declared(text) else {
                throw HandlerFileError(
                    line: line,
                    "\(VisibleText.escape(clipped(text))) is not a type with its first and last version, each - or "
                        + AppVersion.rule)
            }
            versions[type] = range
        }
        return versions
    }

    static func domains(_ texts: [String], at line: Int?) throws(HandlerFileError) -> [DomainClaim] {
        guard texts.count <= HandlerLimits.domains else {
            throw HandlerFileError(line: line, "more than \(HandlerLimits.domains) domains")
        }
        var claims: [DomainClaim] = []
        for text in texts where !text.isEmpty {
            guard let claim = DomainClaim(text) else {
                throw HandlerFileError(
                    line: line,
                    "\(VisibleText.escape(clipped(text))) is not a domain: use host.example or *.host.example in ASCII, "
                        + "with xn-- for other letters")
            }
            claims.append(claim)
        }
        return claims
    }

    /// - Returns: Nil for no team or an empty one.
    static func team(_ text: String?, at line: Int?) throws(HandlerFileError) -> String? {
        guard let text, !text.isEmpty else { return nil }
        guard text.utf8.count <= Limits.team else {
            throw HandlerFileError(line: line, "a team of more than \(Limits.team) bytes")
        }
        return text
    }

    static func name(_ text: String, at line: Int?) throws(HandlerFileError) -> String {
        guard !text.isEmpty, text.utf8.count <= HandlerLimits.name else {
            throw HandlerFileError(line: line, "a name that is empty, or of more than \(HandlerLimits.name) bytes")
        }
        guard !text.unicodeScalars.contains(where: VisibleText.isHidden) else {
            throw HandlerFileError(line: line, "a name with control or invisible characters")
        }
        return text
    }

    /// Returns the icon: a name, or an absolute path. Nil if there is none or it is invalid, which is
    /// not an error.
    static func icon(_ text: String?) -> String? {
        guard let text, !text.isEmpty, text.utf8.count <= HandlerLimits.icon,
            text.utf8.first == UInt8(ascii: "/") || !text.utf8.contains(UInt8(ascii: "/")),
            !text.unicodeScalars.contains(where: VisibleText.isHidden)
        else { return nil }
        return text
    }

    /// Checks the words of a command: a program by absolute path or name, and its arguments.
    static func command(_ words: [String], at line: Int?) throws(HandlerFileError) -> [String] {
        guard let program = words.first, (1...HandlerLimits.words).contains(words.count) else {
            throw HandlerFileError(line: line, "a command without words, or with more than \(HandlerLimits.words)")
        }
        guard words.allSatisfy({ $0.utf8.count <= HandlerLimits.word && !$0.utf8.contains(0) }) else {
            throw HandlerFileError(line: line, "a word of more than \(HandlerLimits.word) bytes, or with a NUL")
        }
        let isPath = program.utf8.first == UInt8(ascii: "/")
        let isName =
            !program.isEmpty && program.utf8.first != UInt8(ascii: "-") && !program.utf8.contains(UInt8(ascii: "/"))
        guard isPath || isName else {
            throw HandlerFileError(line: line, "a program that is neither an absolute path nor a plain name")
        }
        return words
    }

    /// Shortens a text for a message. Counts scalars, because a character may have any number of
    /// marks.
    private static func clipped(_ text: String) -> String {
        String(text.unicodeScalars.prefix(80))
    }
}

/// The reason why the file of a handler cannot be used.
package struct HandlerFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The line number, from 1; nil for the whole file.
    package let line: Int?
    /// The error, as a sentence fragment.
    let problem: String

    package init(line: Int?, _ problem: String) {
        self.line = line
        self.problem = problem
    }

    /// The line, if any, and the error.
    package var description: String {
        line.map { "line \($0): \(problem)" } ?? problem
    }
}
