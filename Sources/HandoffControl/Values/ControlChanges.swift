/// The results of `FollowChanges`: the changed parts.
package struct ControlChanges: ControlValue {
    /// A part that can be queried. The raw value is the value on the socket.
    package enum Part: String, Codable, Sendable, CaseIterable {
        /// The reply of `GetStatus`.
        case status
        /// The reply of `ListDevices`.
        case devices
        /// The reply of `ListApps`.
        case apps
        /// The reply of `ListActivities` with `recent`.
        case recent
    }

    /// The changed parts; never empty.
    package var changed: [ReplyWord<Part>]

    package init(changed: [Part]) {
        self.changed = changed.map(ReplyWord.init)
    }
}
