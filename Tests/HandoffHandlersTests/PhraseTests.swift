import HandoffHandlers
import Testing

/// Texts of notifications in a language, with simulated translations.
struct PhraseTests {
    /// Translates by a table, whose values are the forms for one and for more.
    private static func translation(_ table: [String: [String]]) -> Phrase.Translation {
        { message, plural, count in
            guard let forms = table[message] else { return Phrase.english(message, plural, count) }
            return forms[count == 1 ? 0 : forms.count - 1]
        }
    }

    private static func sent(_ item: String, by device: String = "Phone") -> Phrase {
        .phrase("{device} sent you {item}", ["device": [.verbatim(device)], "item": [.verbatim(item)]])
    }

    @Test func `without a translation the text is in English`() {
        let files = [0, 1, 2].map { Phrase.plural("{count} file", "{count} files", $0).text() }
        #expect(files == ["0 files", "1 file", "2 files"])
        #expect(Self.sent("a.pdf").text() == "Phone sent you a.pdf")
        let list = Phrase.phrase("opens in: {apps}", ["apps": [.message("Web browser"), .verbatim("Editor")]])
        #expect(list.text() == "opens in: Web browser, Editor")
        #expect(Phrase.alone(.verbatim("a")).text() == "a")
    }

    @Test func `a translation has its plural forms, its order, and its separator`() {
        let german = Self.translation([
            "{count} file": ["{count} Datei", "{count} Dateien"], "{device} sent you {item}": ["{item} von {device}"],
            "Web browser": ["Webbrowser"], ", ": [" / "], "opens in: {apps}": ["öffnet sich in: {apps}"],
        ])
        let files = [0, 1, 2].map { Phrase.plural("{count} file", "{count} files", $0).text(german) }
        #expect(files == ["0 Dateien", "1 Datei", "2 Dateien"])
        #expect(Self.sent("a.pdf").text(german) == "a.pdf von Phone")
        let list = Phrase.phrase("opens in: {apps}", ["apps": [.message("Web browser"), .verbatim("Editor")]])
        #expect(list.text(german) == "öffnet sich in: Webbrowser / Editor")
    }

    @Test(arguments: [
        "", "{device}", "{item}", "{device} {item} {other}", "{device} {item} {}", "{device} {Item}", "device item",
        "{device} {item", "{device} {0} %s",
    ])
    func `a translation with other names than the message is not used`(_ translation: String) {
        let translate = Self.translation(["{device} sent you {item}": [translation]])
        #expect(Self.sent("a.pdf").text(translate) == "Phone sent you a.pdf")
        let plural = Phrase.plural("{count} file", "{count} files", 2)
        #expect(plural.text(Self.translation(["{count} file": ["{count}", translation]])) == "2 files")
    }

    @Test(arguments: [
        "{device}", "{item}", "{count}", "%s%n{", "}{", "Web browser", "{device} sent you {item}", ", ", "",
    ])
    func `a text of another device is neither a message nor a format`(_ text: String) {
        var messages: [String] = []
        let phrase = Phrase.phrase(
            "{device} sent you {item}", ["device": [.verbatim(text)], "item": [.verbatim(text)]])
        let shown = phrase.text { message, _, _ in
            messages.append(message)
            return message == ", " ? "!" : message
        }
        #expect(shown == "\(text) sent you \(text)")
        #expect(messages.allSatisfy { $0 == "{device} sent you {item}" || $0 == ", " })
        #expect(Phrase.alone(.verbatim(text)).text { message, _, _ in message == "{text}" ? message : "!" } == text)
    }

    @Test func `markup is escaped after the translation, and only in the body`() {
        let translate = Self.translation(["from {device}": ["<i>de</i> {device}"], "Draft": ["L'<b>"]])
        var notification = DesktopNotification(
            headline: [.phrase("Draft")],
            details: [.phrase("from {device}", ["device": [.verbatim("<a>")]]), .phrase("b")],
            hasMarkup: true, icon: "", choices: [])
        var texts = notification.texts(translate)
        #expect(texts.summary == "L'<b>" && texts.body == "&lt;i&gt;de&lt;/i&gt; &lt;a&gt; · b")
        notification.hasMarkup = false
        #expect(notification.texts(translate).body == "<i>de</i> <a> · b")
        notification.headline += notification.details
        notification.details = []
        texts = notification.texts()
        #expect(texts.summary == "Draft – from <a> · b" && texts.body.isEmpty)
    }

    @Test func `an empty message has no translation`() throws {
        let empty = Phrase.phrase("")
        #expect(empty.text { _, _, _ in "Content-Type: text/plain" }.isEmpty)
    }
}
