import HandoffModel

/// `Missing`: something that an activity needs and that this device does not have.
package struct ControlMissing: ControlValue, Hashable {
    /// The raw value is the field `kind`.
    package enum Kind: String, Codable, Sendable, CaseIterable {
        /// An app that continues the activity.
        case app
        /// A shared folder, by its name in `documents.conf`.
        case folder
        /// A checkout of a repository, by its normalised remote.
        case checkout
    }

    /// The kind of the missing thing.
    package var kind: ReplyWord<Kind>
    /// Its name. Parts of it can be from another device: escape it before it is displayed.
    package var name: String
    /// The id of the app in AppStream, if the software catalogs of this device have it.
    package var appStream: String?

    package init(_ kind: Kind, name: String, appStream: String? = nil) {
        self.kind = ReplyWord(kind)
        self.name = name
        self.appStream = appStream
    }

    /// The missing thing as a noun phrase, safe to display.
    package var phrase: String {
        let name = VisibleText.escape(name)
        return switch kind.known {
        case .app where appStream != nil: "the app \(name)"
        case .app, nil: "an app for \(name)"
        case .folder: "the shared folder '\(name)'"
        case .checkout: "a checkout of \(name)"
        }
    }

    /// The step that adds it, safe to display.
    package var remedy: String? {
        switch kind.known {
        case .app: appStream.map(VisibleText.escape).map { "install \($0) (appstream://\($0))" }
        case .folder: "add 'root = \(VisibleText.escape(name)) FOLDER' to documents.conf"
        case .checkout: "clone it below a folder listed as 'checkouts' in documents.conf"
        case nil: nil
        }
    }
}
