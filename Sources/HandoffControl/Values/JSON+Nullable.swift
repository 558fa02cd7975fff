import HandoffJSON

extension JSON {
    /// A text, or null: replies name every nullable field, so that a reader finds the same keys each time.
    static func nullable(_ text: String?) -> JSON {
        text.map(JSON.string) ?? .null
    }

    /// An object, or null.
    static func nullable(_ object: JSONObject?) -> JSON {
        object.map(JSON.object) ?? .null
    }

    /// A list of texts.
    static func texts(_ texts: [String]) -> JSON {
        .array(texts.map(JSON.string))
    }
}
