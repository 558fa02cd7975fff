/// An activity that a device offers, and until when that may be believed.
package struct PeerOffer: Sendable, Equatable {
    /// What the device said.
    package let activity: OfferedActivity

    /// When it was heard; the activity's age grows from here.
    package let received: BootInstant

    /// When it is void without renewal.
    package let expires: BootInstant

    /// Seconds since the activity became what the user does, as of `now`.
    package func age(at now: BootInstant) -> Duration {
        .seconds(Int64(activity.age)) + now.duration(since: received)
    }
}
