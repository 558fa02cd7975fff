/// The retry delays of all components.
extension Backoff {
    // MARK: - Between devices

    /// For a member whose roster or epoch differs from the local one.
    package static var roster: Backoff { Backoff(first: .seconds(4), maxDelay: .seconds(60), variation: 20) }
    /// For a member that did not return its list of offers.
    package static var list: Backoff { Backoff(first: .milliseconds(250), maxDelay: .seconds(60)) }
    /// For an account file that could not be written.
    package static var account: Backoff { Backoff(first: .seconds(2), maxDelay: .seconds(60), variation: 20) }
    /// For a beacon label that another device announces too.
    package static var labelConflict: Backoff { Backoff(first: .seconds(1), maxDelay: .seconds(60)) }

    // MARK: - Discovery

    /// For the multicast DNS responder, after it has stopped.
    package static var responder: Backoff { Backoff(first: .milliseconds(200), maxDelay: .seconds(10)) }
    /// For a publication that the responder rejects.
    package static var publication: Backoff { Backoff(first: .seconds(5), maxDelay: .seconds(320)) }
    /// For the name of a configured address that could not be resolved.
    package static var nameLookup: Backoff { Backoff(first: .seconds(1), maxDelay: .seconds(60)) }

    // MARK: - On this machine

    /// For an app that looks for the daemon. The maximum limits how long a restart of the daemon
    /// remains unnoticed if its folder cannot be watched.
    package static var daemon: Backoff { Backoff(first: .milliseconds(100), maxDelay: .seconds(5)) }
    /// For the daemon, which looks for `handoff-desktop`.
    package static var desktop: Backoff { Backoff(first: .milliseconds(250), maxDelay: .seconds(60)) }
    /// For a message bus of the desktop.
    package static var messageBus: Backoff { Backoff(first: .seconds(2), maxDelay: .seconds(300)) }
    /// For a tray that refuses the icon. The icon is withheld after eight refusals.
    package static var tray: Backoff { Backoff(first: .seconds(2), maxDelay: .seconds(300)) }

    // MARK: - Transfers

    /// For a transfer that a user waits for, after an interruption. Restarts when bytes arrive.
    package static var transfer: Backoff { Backoff(first: .milliseconds(100), maxDelay: .seconds(5)) }
    /// For a document that an app waits for, after an interruption.
    package static var document: Backoff { Backoff(first: .milliseconds(100), maxDelay: .seconds(2)) }
}
