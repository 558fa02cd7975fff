import DesktopBus
import HandoffHandlers
import LoopIO

/// Notifies followers when the machine goes to sleep, and delays sleep until they have
/// disconnected. Use on the loop's thread.
final class SleepRelay {
    private let loop: EventLoop
    private var source: LoginSleep?
    /// The most recent state; nil if none is known.
    private var latest: MachineSleep?
    private var followers: [ObjectIdentifier: DesktopCall] = [:]
    /// Followers that were notified of the upcoming sleep and are still connected.
    private var delaying: Set<ObjectIdentifier> = []

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// Replies each time the machine is awake or about to sleep. If sleep is imminent, the first
    /// reply is sent when the machine is awake again.
    func follow(_ call: DesktopCall) {
        let key = ObjectIdentifier(call)
        followers[key] = call
        call.onClosed = { [weak self] in self?.closed(key) }
        if latest == .awake { call.replyContinuing(MachineSleep.awake.json) }
        guard source == nil else { return }
        source = LoginSleep(loop: loop) { [weak self] in self?.relay($0) }
    }

    /// Ends the subscription.
    func stop() {
        source?.stop()
        source = nil
        latest = nil
    }

    private func closed(_ key: ObjectIdentifier) {
        followers[key] = nil
        if delaying.remove(key) != nil, delaying.isEmpty { source?.allow() }
    }

    private func relay(_ sleep: MachineSleep) {
        latest = sleep
        delaying = sleep == .imminent ? Set(followers.keys) : []
        if sleep == .imminent, delaying.isEmpty { source?.allow() }
        for call in followers.values { call.replyContinuing(sleep.json) }
    }
}
