package import Timing

/// Decides whether other devices can see this device's announcement. Plain values; time is a parameter.
///
/// avahi-daemon reports an announcement as established even if its configuration excludes every interface. Its multicast packets
/// return to it, so that a browser reports the announcement once for each interface that it uses.
package struct AnnouncementCheck: Sendable {
    /// How long an announcement may take until it is established and has returned.
    package static let timeout = Duration.seconds(5)

    private let needsEcho: Bool
    private var echoes: Set<UInt32> = []
    private var pendingSince: MonotonicInstant?
    /// Whether the announcement is known to be invisible; until it is visible again, also while the library is closed.
    package private(set) var isHidden = false

    /// - Parameter needsEcho: whether only a returned announcement is visible.
    package init(needsEcho: Bool) { self.needsEcho = needsEcho }

    /// An announcement of this device was received on an interface.
    package mutating func echoed(on interface: UInt32) { echoes.insert(interface) }

    /// The library was closed. The next one may have another configuration.
    package mutating func libraryLost() {
        echoes = []
        pendingSince = nil
    }

    /// Takes the present state.
    /// - Parameters:
    ///   - isEstablished: whether the library has announced what is to be announced.
    ///   - interfaces: those on which it is to be announced; empty if it cannot be or need not be.
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

    /// When `update` is due again without any change; nil: never.
    package var deadline: MonotonicInstant? {
        isHidden ? nil : pendingSince.map { $0 + AnnouncementCheck.timeout }
    }
}
