import HandoffModel

/// Why a configuration was refused. The description names the place, what is wrong, and what is allowed.
package struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The place: a file with its line, a file, a variable or an option.
    package let place: String

    /// What is wrong there, and what is allowed.
    package let message: String

    package var description: String { "\(place): \(message)" }

    /// A value that its key does not allow.
    static func invalidValue(_ entry: ConfigurationEntry) -> ConfigurationError {
        ConfigurationError(
            place: entry.origin.description,
            message: "'\(shown(entry.value))' is no value of \(entry.key.rawValue): allowed is \(entry.key.allowed)"
                + commentAdvice(entry.value))
    }

    /// A key that may stand once only.
    static func repeatedKey(_ entry: ConfigurationEntry, first: ConfigurationEntry) -> ConfigurationError {
        ConfigurationError(
            place: entry.origin.description,
            message: "\(entry.key.rawValue) was set before (\(first.origin)): allowed is one line for it")
    }

    /// A word that is no key.
    static func unknownKey(_ word: String, path: String, line: Int) -> ConfigurationError {
        let keys = ConfigurationKey.allCases.map(\.rawValue)
        return ConfigurationError(
            place: "\(path):\(line)",
            message: "unknown key '\(shown(word))'" + suggestion(word, among: keys)
                + "; allowed are: \(keys.joined(separator: ", "))")
    }

    /// A variable with our prefix that is no setting.
    static func unknownVariable(_ name: String) -> ConfigurationError {
        let names = ConfigurationKey.allCases.map(\.variable)
        return ConfigurationError(
            place: "environment variable \(shown(name))",
            message: "unknown setting" + suggestion(name, among: names)
                + "; allowed are: \(names.joined(separator: ", "))")
    }

    /// A heading that is none of the file's sections.
    static func unknownSection(
        _ name: String, path: String, line: Int, sections: [String] = ConfigurationFile.sections
    ) -> ConfigurationError {
        let allowed = sections.map { "[\($0)], " }.joined()
        return ConfigurationError(
            place: "\(path):\(line)",
            message: "unknown section '\(shown(name))'" + suggestion(name, among: sections)
                + "; allowed are: \(allowed)or none")
    }

    /// A line that is neither a setting, a heading nor a comment.
    static func unreadableLine(path: String, line: Int) -> ConfigurationError {
        ConfigurationError(
            place: "\(path):\(line)",
            message: "cannot read this line: allowed are 'key = value', '[section]', '# comment' and empty lines")
    }

    /// A word that is no key of a policy.
    static func unknownPolicyKey(_ word: String, path: String, line: Int) -> ConfigurationError {
        let keys = PolicyKey.allCases.map(\.rawValue)
        return ConfigurationError(
            place: "\(path):\(line)",
            message: "unknown key '\(shown(word))'" + suggestion(word, among: keys)
                + "; allowed in a policy are: \(keys.joined(separator: ", "))")
    }

    /// A value that a key of a policy does not allow.
    static func invalidPolicy(
        _ value: String, of key: PolicyKey, path: String, line: Int
    ) -> ConfigurationError {
        ConfigurationError(
            place: "\(path):\(line)",
            message: "'\(shown(value))' is no value of \(key.rawValue): allowed is \(key.allowed)"
                + commentAdvice(value))
    }

    /// A folder that holds more files than anybody writes.
    static func tooManyFiles(path: String, limit: Int) -> ConfigurationError {
        ConfigurationError(place: path, message: "there are more than \(limit) files in the folder")
    }

    /// A file, or a line of it, that is no text.
    static func notText(path: String, line: Int, what: String) -> ConfigurationError {
        ConfigurationError(
            place: "\(path):\(line)", message: "\(what): allowed is UTF-8 text without control characters")
    }

    /// A file that is larger than any configuration.
    static func tooLarge(path: String) -> ConfigurationError {
        ConfigurationError(
            place: path, message: "the file is too large: allowed are \(ConfigurationFile.byteLimit / 1024) KiB")
    }

    /// A file that could not be read, and the system's reason.
    static func unreadableFile(path: String, reason: String) -> ConfigurationError {
        ConfigurationError(place: path, message: "cannot read the file: \(reason)")
    }

    /// `, did you mean 'word'?`, or nothing when no word is near.
    static func suggestion(_ word: String, among words: [String]) -> String {
        Spelling.nearest(to: word, among: words).map { ", did you mean '\($0)'?" } ?? ""
    }

    /// What a person gave, cut to a length that fits a line of a log.
    static func shown(_ text: String) -> String {
        text.count > 80 ? String(text.prefix(80)) + "…" : text
    }

    private static func commentAdvice(_ value: String) -> String {
        value.contains("#") ? " (a comment needs a line of its own)" : ""
    }
}
