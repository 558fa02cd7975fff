import HandoffControl
import HandoffControlServer
import HandoffModel

/// Callers who have removed a device, and are told as the others hear of it. Lives on the daemon's loop.
final class RemovalReports {
    private struct Report {
        let call: ControlCall
        let device: DeviceID
        var confirmed: Set<DeviceID>
        var waiting: Set<DeviceID>

        func event(_ kind: RemovalEvent.Kind) -> RemovalEvent {
            RemovalEvent(kind: kind, device: device, confirmed: confirmed.sorted(), waiting: waiting.sorted())
        }
    }

    private var reports: [ObjectIdentifier: Report] = [:]

    /// Reports that `device` is removed.
    ///
    /// - Parameters:
    ///   - confirmed: members that have the new key, this one included.
    ///   - members: all members.
    func begin(_ call: ControlCall, removed device: DeviceID, confirmed: Set<DeviceID>, members: Set<DeviceID>) {
        let report = Report(
            call: call, device: device, confirmed: confirmed, waiting: members.subtracting(confirmed))
        guard !report.waiting.isEmpty else { return call.reply(report.event(.removed).json) }
        let key = ObjectIdentifier(call)
        reports[key] = report
        call.replyContinuing(report.event(.removed).json)
        call.onClosed = { [self] in reports[key] = nil }
    }

    /// A member was heard in the epoch in force. Whatever epoch that is, whoever made it knew of every removal that is known
    /// here, or its record would not count.
    func heard(_ member: DeviceID) {
        for (key, report) in reports where report.waiting.contains(member) {
            var report = report
            report.waiting.remove(member)
            report.confirmed.insert(member)
            tell(report, key)
        }
    }

    /// Takes the members as they are now: nobody waits for one that is removed meanwhile.
    func accountChanged(members: Set<DeviceID>) {
        for (key, report) in reports {
            var report = report
            report.waiting.formIntersection(members)
            report.confirmed.formIntersection(members)
            if report.waiting.isEmpty { tell(report, key) } else { reports[key] = report }
        }
    }

    private func tell(_ report: Report, _ key: ObjectIdentifier) {
        let event = report.event(.confirmed).json
        if report.waiting.isEmpty {
            reports[key] = nil
            report.call.reply(event)
        } else {
            reports[key] = report
            report.call.replyContinuing(event)
        }
    }
}
