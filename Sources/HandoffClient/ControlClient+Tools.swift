package import HandoffControl
import HandoffJSON
package import HandoffModel

// The methods of `dev.handoff1.Control`, one function each.
extension ControlClient {
    /// `GetStatus`.
    package func getStatus(_ then: @escaping (Result<ControlStatus, ClientError>) -> Void) {
        request(.getStatus, decode: { reply throws(VarlinkError) in try ControlStatus(json: reply) }, then)
    }

    /// `SetSwitches`; the answer is what holds from then on.
    package func setSwitches(
        _ request: SetSwitchesRequest, _ then: @escaping (Result<ControlSwitches, ClientError>) -> Void
    ) {
        self.request(
            .setSwitches, request.json, decode: { reply throws(VarlinkError) in try ControlSwitches(json: reply) },
            then)
    }

    /// `Diagnose`.
    package func diagnose(_ then: @escaping (Result<ControlDiagnosis, ClientError>) -> Void) {
        request(.diagnose, decode: { reply throws(VarlinkError) in try ControlDiagnosis(json: reply) }, then)
    }

    /// `ReadLog`.
    /// - Parameter number: only entries after this one.
    package func readLog(after number: Int, _ then: @escaping (Result<ControlLogPage, ClientError>) -> Void) {
        request(
            .readLog, ["after": .integer(Int64(number))],
            decode: { reply throws(VarlinkError) in try ControlLogPage(json: reply) }, then)
    }

    /// `FollowLog`: each entry after a number, until the connection ends; a failure is the last thing that is said.
    package func followLog(after number: Int, _ each: @escaping (Result<ControlLogEntry, ClientError>) -> Void) {
        followForever(
            ControlMethod.followLog.rawValue, ["after": .integer(Int64(number))],
            decode: { reply throws(VarlinkError) in try ControlLogEntry(Fields(reply)) }, each)
    }

    /// `CreateAccount`; the answer is the new account.
    package func createAccount(_ then: @escaping (Result<AccountID, ClientError>) -> Void) {
        request(.createAccount, decode: { reply throws(VarlinkError) in try Fields(reply).id("account") }, then)
    }

    /// `GetAccount`.
    package func getAccount(_ then: @escaping (Result<ControlAccount, ClientError>) -> Void) {
        request(.getAccount, decode: { reply throws(VarlinkError) in try ControlAccount(json: reply) }, then)
    }

    /// `ListDevices`.
    package func listDevices(_ then: @escaping (Result<[ControlDevice], ClientError>) -> Void) {
        request(
            .listDevices,
            decode: { reply throws(VarlinkError) in
                var devices: [ControlDevice] = []
                for fields in try Fields(reply).list("devices") { devices.append(try ControlDevice(fields)) }
                return devices
            }, then)
    }

    /// `AddPeer`.
    package func addPeer(_ address: String, _ then: @escaping (Result<Void, ClientError>) -> Void) {
        request(.addPeer, ["address": .string(address)], decode: { _ in }, then)
    }

    /// `RemovePeer`.
    package func removePeer(_ address: String, _ then: @escaping (Result<Void, ClientError>) -> Void) {
        request(.removePeer, ["address": .string(address)], decode: { _ in }, then)
    }

    /// `ListActivities`.
    /// - Parameter here: only what would open on this device.
    package func listActivities(
        here: Bool, _ then: @escaping (Result<[ControlActivity], ClientError>) -> Void
    ) {
        request(
            .listActivities, here ? ["here": true] : [:],
            decode: { reply throws(VarlinkError) in
                var activities: [ControlActivity] = []
                for fields in try Fields(reply).list("activities") { activities.append(try ControlActivity(fields)) }
                return activities
            }, then)
    }

    /// `Watch`: an event for each change, until the connection ends; a failure is the last thing that is said.
    package func watch(_ each: @escaping (Result<WatchEvent, ClientError>) -> Void) {
        followForever(
            ControlMethod.watch.rawValue, decode: { reply throws(VarlinkError) in try WatchEvent(json: reply) }, each)
    }

    /// `Continue`: `willContinue` once the daemon has chosen, then `continued` or a failure.
    package func continueActivity(
        _ request: ContinueRequest, _ each: @escaping (Result<ContinueEvent, ClientError>) -> Void
    ) {
        follow(
            ControlMethod.continue.rawValue, request.json,
            decode: { reply throws(VarlinkError) in try ContinueEvent(json: reply) }
        ) { result, isLast in
            if isLast, case .success(.willContinue) = result {
                each(.failure(.badAnswer("'willContinue' as last reply")))
            } else {
                each(result)
            }
        }
    }

    /// `ListApps`.
    package func listApps(_ then: @escaping (Result<[ControlApp], ClientError>) -> Void) {
        request(
            .listApps,
            decode: { reply throws(VarlinkError) in
                var apps: [ControlApp] = []
                for fields in try Fields(reply).list("apps") { apps.append(try ControlApp(fields)) }
                return apps
            }, then)
    }

    /// `SetAppEnabled`.
    /// - Parameters:
    ///   - app: the app's id, or the beginning of it.
    ///   - then: gets the whole id.
    package func setApp(
        _ app: String, enabled: Bool, _ then: @escaping (Result<String, ClientError>) -> Void
    ) {
        request(
            .setAppEnabled, ["app": .string(app), "enabled": .bool(enabled)],
            decode: { reply throws(VarlinkError) in try Fields(reply).text("app") }, then)
    }

    private func request<Value>(
        _ method: ControlMethod, _ parameters: JSONObject = [:],
        decode: @escaping (JSONObject) throws(VarlinkError) -> Value,
        _ then: @escaping (Result<Value, ClientError>) -> Void
    ) {
        request(method.rawValue, parameters, decode: decode, then)
    }
}
