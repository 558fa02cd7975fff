package import LoopIO

/// A one-shot timer of a `DiscoveryLoop`, on the clock since boot: Avahi's own timers follow the wall clock, which
/// somebody may set. Usable on the loop's thread alone; a timer that is set is kept by the loop.
package final class DiscoveryTimer {
    private unowned let loop: DiscoveryLoop
    private let handler: () -> Void
    /// When it fires; nil while it is not set.
    package private(set) var deadline: LoopInstant?

    init(loop: DiscoveryLoop, _ handler: @escaping () -> Void) {
        self.loop = loop
        self.handler = handler
    }

    /// Sets it, or (nil) stops it.
    package func set(_ deadline: LoopInstant?) {
        guard deadline != self.deadline else { return }
        self.deadline = deadline
        loop.schedule(self)
    }

    func isDue(at now: LoopInstant) -> Bool { deadline.map { $0 <= now } ?? false }

    func fire() {
        deadline = nil
        loop.schedule(self)
        handler()
    }
}
