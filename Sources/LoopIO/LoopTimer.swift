package import Timing

/// A timer of a loop that fires once per arming. Used on the loop's thread only; dropping it disarms it.
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

    /// Whether it is going to fire.
    package var isArmed: Bool { token != nil }

    /// Arms it (again): it fires once, `delay` from now, whatever was set before.
    package func rearm(after delay: Duration) {
        rearm(at: loop.now.advanced(by: delay))
    }

    /// Arms it (again): it fires once at `deadline`, on the next turn when that is past.
    package func rearm(at deadline: MonotonicInstant) {
        disarm()
        arm(at: deadline)
    }

    /// Disarms it for good and lets go of the handler.
    package func cancel() {
        disarm()
        handler = nil
    }

    private func arm(at deadline: MonotonicInstant) {
        guard handler != nil else { return }
        // Unowned would trap and strong would leak: a dropped timer is disarmed and never looked up again.
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
