import HandoffControl
import HandoffModel

/// The calls that removed a device, and receive a report as the other members confirm the removal.
/// Lives on the daemon's loop.
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

    /// Reports the removal of `device`.
    ///
    /// - Parameters:
    /// - confirmed: the members that have the new key, including this one.
    /// - members: all members.
    func begin(_ call: ControlCall, removed device: DeviceID, confirmed: Set<DeviceID>, members: Set<DeviceID>) {
        let report = Report(
            call: call, device: device, confirmed: confirmed, waiting: members.subtracting(confirmed))
        guard !report.waiting.isEmpty else { return call.reply(report.event(.removed).json) }
        let key = ObjectIdentifier(call)
        reports[key] = report
        call.replyContinuing(report.event(.removed).json)
        call.onClosed = { [self] in reports[key] = nil }
    }

    /// Handles a message of a member in the epoch in force. The creator of any such epoch knew of
    /// every removal that is known here. Otherwise its record would not be valid.
    func heard(_ member: DeviceID) {
        for (key, report) in reports where report.waiting.contains(member) {
            var report = report
            report.waiting.remove(member)
            report.confirmed.insert(member)
            notify(report, key)
        }
    }

    /// Applies the current members. Reports do not wait for members that have been removed.
    func accountChanged(members: Set<DeviceID>) {
        for (key, report) in reports {
            var report = report
            report.waiting.formIntersection(members)
            report.confirmed.formIntersection(members)
            if report.waiting.isEmpty { notify(report, key) } else { reports[key] = report }
        }
    }

    private func notify(_ report: Report, _ key: ObjectIdentifier) {
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
