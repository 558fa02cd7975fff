/// How long each part waits before it tries again. All retry delays stand here.
extension Backoff {
    // MARK: - Between devices

    /// A member whose roster or epoch differs from ours.
    package static var roster: Backoff { Backoff(first: .seconds(4), longest: .seconds(60), variation: 20) }
    /// The list of what a member offers, which it did not give.
    package static var list: Backoff { Backoff(first: .milliseconds(250), longest: .seconds(60)) }
    /// The account file that could not be written.
    package static var account: Backoff { Backoff(first: .seconds(2), longest: .seconds(60), variation: 20) }
    /// A beacon's label that somebody else announces, too.
    package static var labelConflict: Backoff { Backoff(first: .seconds(1), longest: .seconds(60)) }

    // MARK: - Discovery

    /// The responder of multicast DNS, which went away.
    package static var responder: Backoff { Backoff(first: .milliseconds(200), longest: .seconds(10)) }
    /// A publication that the responder refuses.
    package static var publication: Backoff { Backoff(first: .seconds(5), longest: .seconds(320)) }
    /// The name of a configured address, which could not be looked up.
    package static var nameLookup: Backoff { Backoff(first: .seconds(1), longest: .seconds(60)) }

    // MARK: - On this machine

    /// The daemon, which an app looks for. The longest is how long a daemon that has restarted may remain unnoticed where
    /// its folder cannot be watched.
    package static var daemon: Backoff { Backoff(first: .milliseconds(100), longest: .seconds(5)) }
    /// `handoff-desktop`, which the daemon looks for.
    package static var desktop: Backoff { Backoff(first: .milliseconds(250), longest: .seconds(60)) }
    /// A message bus of the desktop.
    package static var messageBus: Backoff { Backoff(first: .seconds(2), longest: .seconds(300)) }

    // MARK: - Transfers

    /// A transfer that a person waits for, after a cut; it begins anew when bytes come.
    package static var transfer: Backoff { Backoff(first: .milliseconds(100), longest: .seconds(5)) }
    /// A document that an app waits for, after a cut.
    package static var document: Backoff { Backoff(first: .milliseconds(100), longest: .seconds(2)) }
}
