package import HandoffJSON

/// `Opens`: what would open an activity here.
package struct ControlOpens: Sendable, Equatable {
    /// What it is; the raw value is the field `kind`.
    package enum Kind: String, Sendable, CaseIterable {
        /// An app, which `name` names.
        case app
        /// The web browser.
        case web
        /// Nothing; `reason` says why.
        case nothing
    }

    /// What would open it.
    package var kind: Kind
    /// The app's or the browser's name.
    package var name: String?
    /// Why nothing would, as a fragment.
    package var reason: String?

    /// An app or a browser, by name, or nothing for a reason.
    package init(kind: Kind, name: String? = nil, reason: String? = nil) {
        self.kind = kind
        self.name = name
        self.reason = reason
    }

    /// Reads the fields; throws `invalidParameter`.
    package init(_ fields: Fields) throws(VarlinkError) {
        guard let kind = Kind(rawValue: try fields.text("kind")) else { throw fields.invalid("kind") }
        self.init(kind: kind, name: try fields.optionalText("name"), reason: try fields.optionalText("reason"))
    }

    /// The object on the socket; name and reason only when they are there.
    package var json: JSONObject {
        var json: JSONObject = ["kind": .string(kind.rawValue)]
        json["name"] = name.map(JSON.string)
        json["reason"] = reason.map(JSON.string)
        return json
    }
}
