package import HandoffModel

/// Decides whether other devices can receive this device's announcement. A plain value; time is a
/// parameter.
///
/// avahi-daemon reports an announcement as established even if its configuration excludes every
/// interface. It also receives its own multicast packets, so a browser reports the announcement
/// once for each interface that avahi-daemon uses.
package struct AnnouncementCheck: Sendable {
    /// The maximum time until an announcement is established and has been received.
    package static let timeout = Duration.seconds(5)

    private let needsEcho: Bool
    private var echoes: Set<UInt32> = []
    private var pendingSince: MonotonicInstant?
    /// True if the announcement is known to be invisible. It stays true until the announcement is
    /// visible again, even while the library is closed.
    package private(set) var isHidden = false

    /// - Parameter needsEcho: True if an announcement counts as visible only once it has been
    ///   received.
    package init(needsEcho: Bool) { self.needsEcho = needsEcho }

    /// Records that this device's announcement was received on an interface.
    package mutating func echoed(on interface: UInt32) { echoes.insert(interface) }

    /// The library was closed. When it is reopened, its configuration may differ.
    package mutating func libraryLost() {
        echoes = []
        pendingSince = nil
    }

    /// Updates the check with the current state.
    /// - Parameters:
    ///   - isEstablished: True if the library has announced the publication.
    ///   - interfaces: The interfaces on which to announce it; empty if announcing is impossible or
    ///     unnecessary.
    package mutating func update(isEstablished: Bool, interfaces: Set<UInt32>, at now: MonotonicInstant) {
        let isVisible = isEstablished && (!needsEcho || !echoes.isDisjoint(with: interfaces))
        guard !isVisible, !interfaces.isEmpty else {
            pendingSince = nil
            isHidden = false
            return
        }
        let since = pendingSince ?? now
        pendingSince = since
        if since + AnnouncementCheck.timeout <= now { isHidden = true }
    }

    /// The time at which `update` is due again without any change; nil if it is not.
    package var deadline: MonotonicInstant? {
        isHidden ? nil : pendingSince.map { $0 + AnnouncementCheck.timeout }
    }
}
