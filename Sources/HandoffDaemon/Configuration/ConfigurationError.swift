import HandoffModel

/// An error in a configuration. The description names the place, the error and the allowed values.
package struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The place: a file with its line, a file, a variable or an option.
    package let place: String

    /// The error, and the allowed values.
    let message: String

    package var description: String { "\(place): \(message)" }

    /// The value is not allowed for its key.
    static func invalidValue(_ entry: ConfigurationEntry) -> ConfigurationError {
        ConfigurationError(
            place: entry.origin.description,
            message: "'\(shown(entry.value))' is not valid for \(entry.setting.key): expected \(entry.setting.allowed)"
                + commentAdvice(entry.value))
    }

    /// The key may be set only once.
    static func repeatedKey(_ entry: ConfigurationEntry, first: ConfigurationEntry) -> ConfigurationError {
        ConfigurationError(
            place: entry.origin.description,
            message: "\(entry.setting.key) is already set (\(first.origin)) and may be set only once")
    }

    /// The key does not exist.
    static func unknownKey(_ word: String, path: String, line: Int) -> ConfigurationError {
        unknown("key '\(shown(word))'", word, at: "\(path):\(line)", allowed: Setting.all.map(\.key), as: "keys")
    }

    /// A variable with the prefix of settings does not denote one.
    static func unknownVariable(_ name: String) -> ConfigurationError {
        unknown(
            "setting", name, at: "environment variable \(shown(name))", allowed: Setting.all.map(\.variable),
            as: "variables")
    }

    /// The heading does not denote a section of the file.
    static func unknownSection(
        _ name: String, path: String, line: Int, sections: [String] = ConfigurationFile.sections
    ) -> ConfigurationError {
        let allowed = sections.map { "[\($0)], " }.joined()
        return ConfigurationError(
            place: "\(path):\(line)",
            message: "unknown section '\(shown(name))'" + suggestion(name, among: sections)
                + "; allowed sections: \(allowed)or none")
    }

    /// The line is not a setting, a heading or a comment.
    static func unreadableLine(path: String, line: Int) -> ConfigurationError {
        ConfigurationError(
            place: "\(path):\(line)",
            message: "invalid line: expected 'key = value', '[section]', '# comment' or an empty line")
    }

    /// The key of a policy does not exist.
    static func unknownPolicyKey(_ word: String, path: String, line: Int) -> ConfigurationError {
        unknown(
            "key '\(shown(word))'", word, at: "\(path):\(line)", allowed: PolicyKey.all.map(\.key),
            as: "keys in a policy")
    }

    /// The value is not allowed for its key in a policy.
    static func invalidPolicy(
        _ value: String, of key: PolicyKey, path: String, line: Int
    ) -> ConfigurationError {
        ConfigurationError(
            place: "\(path):\(line)",
            message: "'\(shown(value))' is not valid for \(key.key): expected \(key.allowed)"
                + commentAdvice(value))
    }

    /// The folder contains too many files.
    static func tooManyFiles(path: String, limit: Int) -> ConfigurationError {
        ConfigurationError(place: path, message: "the folder contains more than \(limit) files")
    }

    /// A file, or a line of it, is not valid text.
    static func notText(path: String, line: Int, what: String) -> ConfigurationError {
        ConfigurationError(
            place: "\(path):\(line)", message: "\(what): expected UTF-8 text without control characters")
    }

    /// The file exceeds the size limit.
    static func tooLarge(path: String) -> ConfigurationError {
        ConfigurationError(
            place: path, message: "the file is too large: the maximum is \(ConfigurationFile.byteLimit / 1024) KiB")
    }

    /// The system could not read the file.
    static func unreadableFile(path: String, reason: String) -> ConfigurationError {
        ConfigurationError(place: path, message: "cannot read the file: \(reason)")
    }

    /// The word is not one of those that are allowed at its place.
    private static func unknown(
        _ what: String, _ word: String, at place: String, allowed: [String], as title: String
    ) -> ConfigurationError {
        ConfigurationError(
            place: place,
            message: "unknown \(what)" + suggestion(word, among: allowed)
                + "; allowed \(title): \(allowed.joined(separator: ", "))")
    }

    /// Returns `, did you mean 'word'?`, or an empty text if no word is similar.
    static func suggestion(_ word: String, among words: [String]) -> String {
        Spelling.nearest(to: word, among: words).map { ", did you mean '\($0)'?" } ?? ""
    }

    /// Shortens a text of the user for a log line.
    static func shown(_ text: String) -> String {
        text.count > 80 ? String(text.prefix(80)) + "…" : text
    }

    private static func commentAdvice(_ value: String) -> String {
        value.contains("#") ? " (a comment must be on its own line)" : ""
    }
}
