import HandoffAccount
import HandoffControl
import HandoffHandlers
import HandoffJSON
import HandoffModel

/// An error reply of one of our interfaces: its full name and its parameters. Contains all error
/// messages of the interfaces.
struct CallError: Error {
    /// The qualified name, as the interface files declare it.
    let name: String
    /// The parameters that the interface files declare for it.
    let parameters: JSONObject

    /// A method of the app interface requires `more`.
    static let expectedMore = CallError(name: AppErrorName.expectedMore.rawValue, parameters: [:])

    /// A method of the app interface requires `upgrade`.
    static let expectedUpgrade = CallError(name: AppErrorName.expectedUpgrade.rawValue, parameters: [:])

    /// No stream with this id is open or waits for the caller.
    static func noSuchStream(_ stream: StreamID) -> CallError {
        CallError(name: AppErrorName.noSuchStream.rawValue, parameters: ["stream": .string(stream.hex)])
    }

    /// A stream cannot be opened.
    static func streamFailed(_ failure: HandoffFailure) -> CallError {
        CallError(name: AppErrorName.streamFailed.rawValue, parameters: parameters(of: failure))
    }

    /// A descriptor passed with `PassFile` is unusable.
    static func invalidDescriptor(_ message: String) -> CallError {
        CallError(name: AppErrorName.invalidDescriptor.rawValue, parameters: ["message": .string(message)])
    }

    /// The direction of a stream is past the position at which a file should start.
    static func positionPassed(_ position: UInt64) -> CallError {
        CallError(
            name: AppErrorName.positionPassed.rawValue, parameters: ["position": .integer(Int64(clamping: position))])
    }

    /// A passed file could not be read or written.
    static func fileFailed(moved: Int64, _ message: String) -> CallError {
        CallError(
            name: AppErrorName.fileFailed.rawValue,
            parameters: ["moved": .integer(moved), "message": .string(message)])
    }

    /// No session with this id belongs to the connection.
    static func noSuchSession(_ session: String) -> CallError {
        CallError(name: AppErrorName.noSuchSession.rawValue, parameters: ["session": .string(session)])
    }

    /// A sandboxed process claims to be another app than the one whose sandbox it is in.
    static func notThisApp(_ app: String, actual: String) -> CallError {
        CallError(
            name: AppErrorName.notThisApp.rawValue,
            parameters: [
                "app": .string(app), "message": .string("a process in the sandbox of \(actual) is not the app \(app)"),
            ])
    }

    /// The name that an app gives itself is not a valid app id.
    static func invalidApp(_ app: String) -> CallError {
        CallError(
            name: AppErrorName.invalidApp.rawValue,
            parameters: [
                "app": .string(app),
                "message": .string(
                    "not a valid app id: an id is the name of the app's desktop entry, such as org.example.Editor. "
                        + "It has 1 to \(HandlerLimits.identifier) visible ASCII characters, starts with a letter, "
                        + "a digit or _, and contains none of \(AppID.refusedCharacters)"),
            ])
    }

    /// An app claims an id or a type, or sends a report, that is reserved for the programs of
    /// Handoff.
    static func reserved(_ name: String, _ message: String) -> CallError {
        CallError(
            name: AppErrorName.invalidApp.rawValue, parameters: ["app": .string(name), "message": .string(message)])
    }

    /// No known app has an id with this start.
    static func noSuchApp(_ identifier: String) -> CallError {
        CallError(
            name: ControlErrorName.noSuchApp.rawValue,
            parameters: [
                "identifier": .string(identifier),
                "message": .string(
                    "no app that is installed, attached or switched off has an id that starts with \(identifier)"),
            ])
    }

    /// The session has no activity with this id.
    static func noSuchActivity(_ activity: String) -> CallError {
        CallError(name: AppErrorName.noSuchActivity.rawValue, parameters: ["activity": .string(activity)])
    }

    /// No activity published here has an id with this start.
    static func noSuchActivity(publishedHere identifier: String) -> CallError {
        CallError(
            name: ControlErrorName.noSuchActivity.rawValue,
            parameters: [
                "identifier": .string(identifier),
                "message": .string("no activity published here has an id that starts with \(identifier)"),
            ])
    }

    /// No continuation with this id waits for the caller.
    static func noSuchContinuation(_ continuation: String) -> CallError {
        CallError(name: AppErrorName.noSuchContinuation.rawValue, parameters: ["continuation": .string(continuation)])
    }

    /// A field of an activity is not allowed.
    static func invalidActivity(_ error: ActivityError) -> CallError {
        CallError(
            name: AppErrorName.invalidActivity.rawValue,
            parameters: [
                "field": .string(error.field), "message": .string(error.message), "code": .integer(Int64(error.code)),
            ])
    }

    /// A limit of the app interface was reached.
    static func limit(_ limit: String, _ message: String) -> CallError {
        CallError(
            name: AppErrorName.limitExceeded.rawValue,
            parameters: ["limit": .string(limit), "message": .string(message)])
    }

    /// An error of the control interface whose only parameter is a message.
    static func control(_ name: ControlErrorName, _ message: String) -> CallError {
        CallError(name: name.rawValue, parameters: ["message": .string(message)])
    }

    /// An error of the control interface without parameters.
    static func control(_ name: ControlErrorName) -> CallError {
        CallError(name: name.rawValue, parameters: [:])
    }

    /// A limit of the control interface was reached.
    static func limitExceeded(_ limit: String, _ message: String) -> CallError {
        CallError(
            name: ControlErrorName.limitExceeded.rawValue,
            parameters: ["limit": .string(limit), "message": .string(message)])
    }

    /// No open ticket has an id with this start.
    static func noSuchTicket(_ identifier: String) -> CallError {
        CallError(
            name: ControlErrorName.noSuchTicket.rawValue,
            parameters: [
                "identifier": .string(identifier),
                "message": .string("no open ticket has an id that starts with \(identifier)"),
            ])
    }

    /// - Parameter candidates: ids; all equal if several devices offer an activity with the same
    ///   id.
    static func ambiguous(
        _ identifier: String, _ candidates: [String], of things: String = "activities"
    ) -> CallError {
        let isOneID = Set(candidates).count == 1
        let message =
            isOneID
            ? "\(candidates.count) devices offer an activity with the id \(identifier); specify the device"
            : "\(identifier) matches \(candidates.count) \(things); give more of the id"
        return CallError(
            name: ControlErrorName.ambiguousIdentifier.rawValue,
            parameters: [
                "identifier": .string(identifier), "candidates": .array(candidates.map { .string($0) }),
                "message": .string(message),
            ])
    }

    /// A text matches several devices.
    static func ambiguous(_ identifier: String, _ devices: [DeviceID], _ names: DeviceNames) -> CallError {
        let labels = devices.map { VisibleText.escape(names.fullLabel(of: $0)) }.joined(separator: ", ")
        return CallError(
            name: ControlErrorName.ambiguousIdentifier.rawValue,
            parameters: [
                "identifier": .string(identifier), "candidates": .array(devices.map { .string($0.hex) }),
                "message": .string("\(identifier) matches \(devices.count) devices: \(labels); specify one by its id"),
            ])
    }

    /// - Parameter reason: a more specific reason, if known.
    static func noSuchDevice(_ identifier: String, _ reason: String? = nil) -> CallError {
        CallError(
            name: ControlErrorName.noSuchDevice.rawValue,
            parameters: [
                "identifier": .string(identifier),
                "message": .string(
                    reason ?? "no device of the account has the name \(identifier) or an id that starts with it"),
            ])
    }

    /// A device cannot be removed together with another that has not admitted it.
    static func notAdmitted(_ dropped: DeviceID, by device: DeviceID) -> CallError {
        .control(
            .accountRefused,
            "device \(dropped.short) was not admitted by device \(device.short); remove it separately")
    }

    /// No network or several networks match.
    static func noSuchNetwork(_ message: String) -> CallError { .control(.noSuchNetwork, message) }

    /// An address is invalid or cannot be called.
    /// - Parameter reason: a more specific reason, if known.
    static func invalidAddress(_ address: String, _ reason: String? = nil) -> CallError {
        CallError(
            name: ControlErrorName.invalidAddress.rawValue,
            parameters: [
                "address": .string(address),
                "message": .string(
                    reason ?? "not a valid address: use host:port, address:port or [IPv6 address]:port"),
            ])
    }

    /// The address was not added.
    static func addressNotAdded(_ address: String) -> CallError {
        CallError(
            name: ControlErrorName.invalidAddress.rawValue,
            parameters: [
                "address": .string(address),
                "message": .string("this address was not added; handoffctl status shows the added ones"),
            ])
    }

    /// The requested direction is switched off here.
    static func switchedOff(_ restriction: ControlRestriction) -> CallError {
        CallError(name: ControlErrorName.switchedOff.rawValue, parameters: restriction.json)
    }

    /// A continuation has failed.
    static func continuationFailed(_ failure: HandoffFailure) -> CallError {
        CallError(
            name: ControlErrorName.continuationFailed.rawValue, parameters: ContinuationFailure(failure).json)
    }

    private static func parameters(of failure: HandoffFailure) -> JSONObject {
        [
            "code": .integer(Int64(failure.code)), "reason": .string(failure.reason),
            "message": .string(failure.message),
        ]
    }
}
