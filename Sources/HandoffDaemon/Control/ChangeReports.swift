import HandoffControl
import LoopIO

/// The followers of changes of the device's state (`FollowChanges`). Lives on the daemon's loop.
///
/// Callers report only that something may have changed. The difference is computed by comparison,
/// and only while there are followers.
final class ChangeReports {
    /// The values whose changes are reported, without the parts that change with time.
    struct Answers: Equatable {
        private let status: ControlStatus
        private let devices: [ControlDevice]
        private let apps: [ControlApp]
        private let recent: [OfferedActivity]

        /// The values of `GetStatus`, `ListDevices`, `ListApps`, and `ListActivities` with `recent`.
        init(status: ControlStatus, devices: [ControlDevice], apps: [ControlApp], recent: [OfferedActivity]) {
            var status = status
            for index in status.tickets.indices { status.tickets[index].age = nil }
            var devices = devices
            for index in devices.indices {
                devices[index].heard = nil
                // This time is computed on each access, and can differ by a second.
                if devices[index].asleepSince != nil { devices[index].asleepSince = 0 }
            }
            self.status = status
            self.devices = devices
            self.apps = apps
            self.recent = recent.map { activity in
                var activity = activity
                activity.age = 0
                activity.kept = activity.kept.map { ControlKept($0.state.known ?? .offline, since: nil, asOf: 0) }
                return activity
            }
        }

        /// Returns the parts that differ from the previous values.
        func parts(since former: Answers) -> [ControlChanges.Part] {
            ControlChanges.Part.allCases.filter { part in
                switch part {
                case .status: status != former.status
                case .devices: devices != former.devices
                case .apps: apps != former.apps
                case .recent: recent != former.recent
                }
            }
        }
    }

    /// The minimum time between two reports, so that many changes are reported together.
    private static let minInterval = Duration.milliseconds(250)

    private let loop: EventLoop
    private unowned let service: ControlService
    private var followers: [ObjectIdentifier: ControlCall] = [:]
    /// The values at the last comparison; nil without followers.
    private var seen: Answers?
    private var willLook = false
    /// The parts that changed since the last report, even if they changed back, because a client
    /// may have read them in between.
    private var pending: Set<ControlChanges.Part> = []
    /// Not nil while the last report is younger than `minInterval`.
    private var timer: LoopTimer?

    init(loop: EventLoop, service: ControlService) {
        self.loop = loop
        self.service = service
    }

    /// `FollowChanges`.
    func follow(_ call: ControlCall) throws {
        guard call.wantsMore else { throw CallError.control(.expectedMore) }
        seen = seen ?? service.answers()
        let key = ObjectIdentifier(call)
        followers[key] = call
        call.onClosed = { [weak self] in self?.ended(key) }
        call.replyContinuing(ControlChanges(changed: ControlChanges.Part.allCases).json)
    }

    /// Schedules a comparison, because something may have changed. It runs later, after the caller
    /// has made all of its changes.
    func review() {
        guard !followers.isEmpty, !willLook else { return }
        willLook = true
        loop.later { [weak self] in self?.compare() }
    }

    private func compare() {
        willLook = false
        guard let former = seen else { return }
        let present = service.answers()
        seen = present
        pending.formUnion(present.parts(since: former))
        if timer == nil { notify() }
    }

    private func notify() {
        timer = nil
        guard !pending.isEmpty else { return }
        let results = ControlChanges(changed: ControlChanges.Part.allCases.filter(pending.contains)).json
        pending.removeAll()
        for call in followers.values { call.replyContinuing(results) }
        timer = loop.timer(after: Self.minInterval) { [weak self] in self?.notify() }
    }

    private func ended(_ key: ObjectIdentifier) {
        followers[key] = nil
        guard followers.isEmpty else { return }
        seen = nil
        pending.removeAll()
        timer = nil
    }
}
