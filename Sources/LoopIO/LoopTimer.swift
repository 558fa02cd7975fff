package import HandoffModel

/// A one-shot timer of a loop that can be re-armed. Use it on the loop's thread only. Releasing it
/// disarms it.
package final class LoopTimer {
    private let loop: EventLoop
    private let accuracy: Duration
    private var handler: (() -> Void)?
    private var token: EventLoop.TimerToken?

    init(loop: EventLoop, after delay: Duration, accuracy: Duration, handler: @escaping () -> Void) {
        self.loop = loop
        self.accuracy = accuracy
        self.handler = handler
        arm(at: loop.now.advanced(by: delay))
    }

    deinit {
        disarm()
    }

    /// True if the timer is going to fire.
    package var isArmed: Bool { token != nil }

    /// Arms the timer to fire once, `delay` from now. Replaces an earlier deadline.
    package func rearm(after delay: Duration) {
        rearm(at: loop.now.advanced(by: delay))
    }

    /// Arms the timer to fire once at `deadline`, or in the next turn if past. Replaces an earlier
    /// deadline.
    package func rearm(at deadline: MonotonicInstant) {
        disarm()
        arm(at: deadline)
    }

    /// Disarms the timer permanently and releases the handler.
    package func cancel() {
        disarm()
        handler = nil
    }

    private func arm(at deadline: MonotonicInstant) {
        guard handler != nil else { return }
        // Unowned would trap and strong would leak. A released timer is disarmed and not looked up
        // again.
        token = loop.arm(at: deadline, accuracy: accuracy) { [weak self] in self?.fire() }
    }

    private func disarm() {
        guard let token else { return }
        loop.disarm(token)
        self.token = nil
    }

    private func fire() {
        token = nil
        handler?()
    }
}
