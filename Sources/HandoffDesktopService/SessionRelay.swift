import DesktopBus
import HandoffDesktop
import LoopIO

/// Tells those who follow what sessions the user has. On the loop's thread.
final class SessionRelay {
    private let loop: EventLoop
    private let userID: UInt32
    private var source: LoginSessions?
    /// What was said last; nil while nothing was.
    private var latest: LoginReport?
    private var followers: [ObjectIdentifier: DesktopCall] = [:]

    init(loop: EventLoop, userID: UInt32) {
        self.loop = loop
        self.userID = userID
    }

    /// Answers a call with the sessions, now and after each change.
    func follow(_ call: DesktopCall) {
        let key = ObjectIdentifier(call)
        followers[key] = call
        call.onClosed = { [weak self] in self?.followers[key] = nil }
        if let latest { call.replyContinuing(latest.json) }
        guard source == nil else { return }
        source = LoginSessions(loop: loop, userID: userID) { [weak self] in self?.tell($0) }
    }

    /// Ends it.
    func stop() {
        source?.stop()
        source = nil
        latest = nil
    }

    private func tell(_ report: LoginReport) {
        latest = report
        for call in followers.values { call.replyContinuing(report.json) }
    }
}
