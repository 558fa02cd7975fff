import CIntl

/// The language of the session for texts on the desktop, by gettext. Without `load`, they are in
/// English. Logs always are.
package enum SessionLanguage {
    private static let domain = "handoff"

    /// Uses the language of the environment. Call it before other threads are created, because it
    /// changes the locale of the process.
    ///
    /// - Parameter folder: Contains the translations, as `de/LC_MESSAGES/handoff.mo`.
    package static func load(from folder: String) {
        setlocale(LC_MESSAGES, "")
        bindtextdomain(domain, folder)
        bind_textdomain_codeset(domain, "UTF-8")
    }

    /// Returns the translation of a text.
    static func localized(_ text: String) -> String { translation(text, nil, 0) }

    /// Returns the translation of a text with the number `{count}`, in its plural form.
    static func localized(_ singular: String, _ plural: String, _ count: Int) -> String {
        translation(singular, plural, Int64(count)).replacing("{count}", with: String(count))
    }

    /// Returns the translation of a message, or of its plural form for a number.
    static func translation(_ message: String, _ plural: String?, _ count: Int64) -> String {
        // Without a translation, the result is an argument itself, which must still exist then.
        message.withCString { one in
            guard let plural else { return String(cString: dgettext(domain, one)) }
            return plural.withCString { String(cString: dngettext(domain, one, $0, UInt(count.magnitude))) }
        }
    }
}
