import DesktopBus
import HandoffDesktop
import LoopIO

/// Tells those who follow when the machine goes to sleep, and holds it up until they have gone. On the loop's thread.
final class SleepRelay {
    private let loop: EventLoop
    private var source: LoginSleep?
    /// What was said last; nil while nothing was.
    private var latest: MachineSleep?
    private var followers: [ObjectIdentifier: DesktopCall] = [:]
    /// Those who were told that the machine is about to sleep, and are still here.
    private var delaying: Set<ObjectIdentifier> = []

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// Answers a call each time the machine is awake, or about to sleep. Who comes while it is about to is told when it is awake.
    func follow(_ call: DesktopCall) {
        let key = ObjectIdentifier(call)
        followers[key] = call
        call.onClosed = { [weak self] in self?.closed(key) }
        if latest == .awake { call.replyContinuing(MachineSleep.awake.json) }
        guard source == nil else { return }
        source = LoginSleep(loop: loop) { [weak self] in self?.tell($0) }
    }

    /// Ends it.
    func stop() {
        source?.stop()
        source = nil
        latest = nil
    }

    private func closed(_ key: ObjectIdentifier) {
        followers[key] = nil
        if delaying.remove(key) != nil, delaying.isEmpty { source?.allow() }
    }

    private func tell(_ sleep: MachineSleep) {
        latest = sleep
        delaying = sleep == .imminent ? Set(followers.keys) : []
        if sleep == .imminent, delaying.isEmpty { source?.allow() }
        for call in followers.values { call.replyContinuing(sleep.json) }
    }
}
