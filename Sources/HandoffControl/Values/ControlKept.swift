import HandoffJSON

/// `Kept`: the reason why another device keeps the state of an activity, and its age.
package struct ControlKept: ControlValue {
    /// The state of the origin. The raw value is the field `state`.
    package enum State: String, Codable, Sendable, CaseIterable {
        /// The origin is asleep.
        case asleep
        /// The origin does not answer.
        case offline
        /// The activity has ended on the origin, and its app permits to continue it.
        case ended
    }

    /// The state of the origin.
    package var state: ReplyWord<State>
    /// The time at which the origin announced that it goes to sleep, in seconds since 1970; nil if
    /// it has not.
    package var since: Double?
    /// The time at which the state was saved, in whole seconds since 1970: it is computed on each
    /// access.
    package var asOf: Double
    /// The size in bytes of the file in the copy of an item that was sent; nil if it has none.
    package var size: Int?

    package init(_ state: State, since: Double?, asOf: Double) {
        self.state = ReplyWord(state)
        self.since = since
        self.asOf = asOf.rounded()
    }
}
