/// The user's language in the form of desktop entries: `lang_COUNTRY@MODIFIER`.
package struct DesktopLocale: Sendable, Equatable {
    /// The suffixes of translated keys, in order of preference.
    let candidates: [String]

    /// Parses the value of a variable such as `LC_MESSAGES`: `de_AT.UTF-8@euro`. Without a value,
    /// and for `C`, no translation matches.
    package init(_ text: String?) {
        guard let text, text.utf8.count <= 64, !["", "C", "POSIX"].contains(text) else {
            candidates = []
            return
        }
        let parts = text.split(separator: "@", maxSplits: 1)
        let modifier = parts.count == 2 ? "@" + parts[1] : nil
        let place = parts.first?.split(separator: ".", maxSplits: 1).first.map(String.init) ?? ""
        let language = place.split(separator: "_", maxSplits: 1).first.map(String.init) ?? ""
        guard !language.isEmpty, language != "C" else {
            candidates = []
            return
        }
        let hasCountry = language != place
        var candidates: [String] = []
        if hasCountry, let modifier { candidates.append(place + modifier) }
        if hasCountry { candidates.append(place) }
        if let modifier { candidates.append(language + modifier) }
        self.candidates = candidates + [language]
    }

    /// Uses the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is set, like setlocale(3).
    package init(environment: [String: String]) {
        let name = ["LC_ALL", "LC_MESSAGES", "LANG"].first { !(environment[$0] ?? "").isEmpty }
        self.init(name.flatMap { environment[$0] })
    }
}
