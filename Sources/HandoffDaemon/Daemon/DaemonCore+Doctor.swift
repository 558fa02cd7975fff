import HandoffControl
import HandoffModel
import HandoffProtocol
import LoopIO

/// What only the daemon can tell of what stops a handoff.
extension DaemonCore {
    /// How many seconds a clock may be ahead before it is worth a word: devices start with their clock as number.
    private static let clockTolerance: UInt64 = 300

    /// `Diagnose`. The folder is looked at on the worker: its disk may be the trouble.
    func diagnose(completion: @escaping (ControlDiagnosis) -> Void) {
        worker.run({ [folder = stored.folder] in folder.mode }, on: loop) { [weak self] result in
            guard let self else { return }
            completion(
                ControlDiagnosis(
                    stateFolder: stored.folder.path, stateMode: (try? result.get()).map { Int($0) },
                    openFiles: MachineInfo.openFileLimit, lockedMemory: MachineInfo.lockedMemoryLimit,
                    isIsolated: MachineInfo.isInUserNamespace,
                    appProblems: installed.problems.sorted(),
                    members: members()))
        }
    }

    private func members() -> [ControlDiagnosis.Member] {
        let clock = wallClock.unixSeconds
        return ring.live.subtracting([keeper.deviceID]).sorted().map { device in
            let start = network.table.seenBoot(of: device) ?? 0
            let (ahead, underflow) = start.subtractingReportingOverflow(clock)
            return ControlDiagnosis.Member(
                device: device, name: ring.name(of: device), online: network.table[device] != nil,
                heard: health.age(of: device, at: loop.now), trouble: health.trouble(with: device),
                clockAhead: !underflow && ahead > Self.clockTolerance ? Double(ahead) : nil)
        }
    }
}
