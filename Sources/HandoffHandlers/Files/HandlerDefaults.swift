package import HandoffModel

/// The user's preferred apps for types that several apps continue: lines `TYPE=APP;APP`, in order
/// of preference.
///
/// The file `defaults` has the format of mimeapps.list. Group headers, empty lines and lines that
/// start with `#` are ignored.
package struct HandlerDefaults: Sendable, Equatable {
    /// The apps for each type, in order of preference.
    package private(set) var choices: [ActivityType: [AppID]] = [:]

    /// No choices.
    package init() {}

    package init(choices: [ActivityType: [AppID]]) {
        self.choices = choices
    }

    /// Parses a file. Reports and skips invalid lines.
    package init(parsing bytes: [UInt8], problem: (HandlerFileError) -> Void) {
        guard bytes.count <= HandlerLimits.fileBytes else {
            problem(HandlerFileError(line: nil, "longer than \(HandlerLimits.fileBytes) bytes"))
            return
        }
        var number = 0
        for part in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            guard let line = String(validating: part, as: UTF8.self) else {
                problem(HandlerFileError(line: number, "not UTF-8"))
                continue
            }
            let text = Self.trimmed(line[...])
            guard let first = text.utf8.first, first != UInt8(ascii: "#"), first != UInt8(ascii: "[") else { continue }
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let type = ActivityType(Self.trimmed(parts[0])) else {
                problem(HandlerFileError(line: number, "not TYPE=APP;APP"))
                continue
            }
            let apps = parts[1].split(separator: ";").map(Self.trimmed).filter { !$0.isEmpty }
            let ids = apps.compactMap { AppID(Self.withoutEnding($0)) }
            if ids.count < apps.count { problem(HandlerFileError(line: number, "invalid app id")) }
            choices[type, default: []] += ids
        }
    }

    /// Adds apps from a desktop setting after the user's own choices for a type.
    package mutating func append(_ apps: [AppID], for type: ActivityType) {
        let named = choices[type] ?? []
        let more = apps.filter { !named.contains($0) }
        if !more.isEmpty { choices[type] = named + more }
    }

    /// Returns the user's choices for a type, in order of preference.
    package func apps(for type: ActivityType) -> [AppID] { choices[type] ?? [] }

    /// Removes the suffix that other files use in desktop entry ids.
    private static func withoutEnding(_ text: String) -> String {
        text.hasSuffix(".desktop") ? String(text.dropLast(".desktop".count)) : text
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" }
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return String(text)
    }
}
