/// The results of `FollowChanges`: what is not as it was.
package struct ControlChanges: ControlValue {
    /// What may be asked for; the raw value is the word on the socket.
    package enum Part: String, Codable, Sendable, CaseIterable {
        /// The answer of `GetStatus`.
        case status
        /// The answer of `ListDevices`.
        case devices
        /// The answer of `ListApps`.
        case apps
    }

    /// What has changed; never empty.
    package var changed: [Part]

    /// Results that name these parts.
    package init(changed: [Part]) {
        self.changed = changed
    }
}
