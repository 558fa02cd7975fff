import HandoffClient
import HandoffControl
import HandoffModel
package import LoopIO

/// `why`: explains why another device's offers do not open here.
package struct WhyCommand: Command {
    package static let specification = CommandSpecification(
        words: ["why"], operands: [.one(.offerOrDevice)],
        summary: "explain why an offer, or any offer of a device, does not open here",
        details: """
            Checks each step of the path of an activity, in order: the account, the other device, the network, the
            switches of this device, the offer, the app that opens it, and whether its notification is shown. For a
            device, all its offers are checked. Each line is a check in the form of handoffctl doctor, also with
            --json. Exit status 0: no problem found. 1: a problem was found; the output shows how to fix it.
            """,
        example: "handoffctl why laptop")

    private let subject: String

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        subject = try ArgumentValue.text(arguments.operands.first ?? "", option: "ID|DEVICE")
    }

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.getStatus { status in
                client.listDevices { devices in
                    client.listActivities(here: false) { activities in
                        client.diagnose { diagnosis in
                            client.listApps { apps in
                                then(Self.facts(status, devices, activities, diagnosis, apps))
                            }
                        }
                    }
                }
            }
        } present: { facts in
            do throws(CommandFailure) {
                let checks = try checks(facts)
                for check in checks { context.show(check) }
                context.finish(checks.contains { $0.state == .problem } ? .failed : .done)
            } catch {
                context.fail(error)
            }
        }
    }

    private struct Facts {
        let status: ControlStatus
        let devices: [ControlDevice]
        let activities: [OfferedActivity]
        let diagnosis: ControlDiagnosis?
        let apps: [ControlApp]?
    }

    private static func facts(
        _ status: Result<ControlStatus, ClientError>, _ devices: Result<[ControlDevice], ClientError>,
        _ activities: Result<[OfferedActivity], ClientError>, _ diagnosis: Result<ControlDiagnosis, ClientError>,
        _ apps: Result<[ControlApp], ClientError>
    ) -> Result<Facts, ClientError> {
        do throws(ClientError) {
            return .success(
                Facts(
                    status: try status.get(), devices: try devices.get(), activities: try activities.get(),
                    // Older daemons do not support these requests; continue without them.
                    diagnosis: try? diagnosis.get(), apps: try? apps.get()))
        } catch {
            return .failure(error)
        }
    }

    private func checks(_ facts: Facts) throws(CommandFailure) -> [DoctorCheck] {
        let digits = DeviceNames.digits(subject)
        let offers = facts.activities.filter { !digits.isEmpty && $0.id.hex.hasPrefix(digits) }
        if let offer = offers.first, let origin = facts.devices.first(where: { $0.id == offer.device }) {
            guard offers.count == 1 else { throw .ambiguousActivity(subject, candidates: offers.map(\.id.hex)) }
            return Doctor.path(
                from: origin, activity: offer, offers: facts.activities, apps: facts.apps, facts.status,
                facts.diagnosis)
        }
        // Without an account, or with receiving off, that is the answer for any subject.
        let obstacle = Doctor.account(facts.status)
        if obstacle.state == .problem { return [obstacle] }
        let device: ControlDevice
        do throws(CommandFailure) {
            device = try DeviceChoice.find(subject, in: facts.devices)
        } catch {
            throw error.name == "NoSuchDevice" ? .noSuchSubject(subject) : error
        }
        guard !device.isSelf else { throw .isThisDevice(subject) }
        return Doctor.path(
            from: device, offers: facts.activities, apps: facts.apps, facts.status, facts.diagnosis)
    }
}
