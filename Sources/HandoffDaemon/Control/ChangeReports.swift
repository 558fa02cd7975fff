import HandoffControl
import HandoffControlServer
import LoopIO

/// Who follows what the device says of itself (`FollowChanges`). Lives on the daemon's loop.
///
/// Whoever changes something says only that it may have changed; what has is found by comparing, and only while somebody follows.
final class ChangeReports {
    /// What followers are told the changes of, without what goes on by itself.
    struct Answers: Equatable {
        private let status: ControlStatus
        private let devices: [ControlDevice]
        private let apps: [ControlApp]

        /// The answers of `GetStatus`, `ListDevices` and `ListApps`.
        init(status: ControlStatus, devices: [ControlDevice], apps: [ControlApp]) {
            var status = status
            for index in status.tickets.indices { status.tickets[index].age = nil }
            var devices = devices
            for index in devices.indices {
                devices[index].heard = nil
                // Since when is worked out anew each time, and may be a second more or less.
                if devices[index].asleepSince != nil { devices[index].asleepSince = 0 }
            }
            self.status = status
            self.devices = devices
            self.apps = apps
        }

        /// What is another here than in the answers before.
        func parts(since former: Answers) -> [ControlChanges.Part] {
            ControlChanges.Part.allCases.filter { part in
                switch part {
                case .status: status != former.status
                case .devices: devices != former.devices
                case .apps: apps != former.apps
                }
            }
        }
    }

    /// The shortest time between two reports: a moment in which much changes is told once.
    private static let pace = Duration.milliseconds(250)

    private let loop: EventLoop
    private unowned let service: ControlService
    private var followers: [ObjectIdentifier: ControlCall] = [:]
    /// How everything was when it was looked at last; nil while nobody follows.
    private var seen: Answers?
    private var willLook = false
    /// What has changed since the last report, also when it has changed back: somebody may have asked in between.
    private var untold: Set<ControlChanges.Part> = []
    /// There while the last report is younger than the pace.
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

    /// Something may have changed. It is looked at later, when whoever says so has done all of it.
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
        untold.formUnion(present.parts(since: former))
        if timer == nil { tell() }
    }

    private func tell() {
        timer = nil
        guard !untold.isEmpty else { return }
        let results = ControlChanges(changed: ControlChanges.Part.allCases.filter(untold.contains)).json
        untold.removeAll()
        for call in followers.values { call.replyContinuing(results) }
        timer = loop.timer(after: Self.pace) { [weak self] in self?.tell() }
    }

    private func ended(_ key: ObjectIdentifier) {
        followers[key] = nil
        guard followers.isEmpty else { return }
        seen = nil
        untold.removeAll()
        timer = nil
    }
}
