import DesktopBus
import HandoffDesktop
import LoopIO

/// Tells those who follow whether the machine saves power. On the loop's thread.
final class PowerRelay {
    private let loop: EventLoop
    private var source: PowerSupply?
    /// What was said last; nil while nothing was.
    private var latest: MachinePower?
    private var followers: [ObjectIdentifier: DesktopCall] = [:]

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// Answers a call with what is so, now and after each change.
    func follow(_ call: DesktopCall) {
        let key = ObjectIdentifier(call)
        followers[key] = call
        call.onClosed = { [weak self] in self?.followers[key] = nil }
        if let latest { call.replyContinuing(latest.json) }
        guard source == nil else { return }
        source = PowerSupply(loop: loop) { [weak self] in self?.tell($0) }
    }

    /// Ends it.
    func stop() {
        source?.stop()
        source = nil
        latest = nil
    }

    private func tell(_ power: MachinePower) {
        latest = power
        for call in followers.values { call.replyContinuing(power.json) }
    }
}
