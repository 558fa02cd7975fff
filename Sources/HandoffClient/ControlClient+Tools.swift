package import HandoffControl
import HandoffJSON
package import HandoffModel

// The methods of `dev.handoff1.Control`, one function each.
extension ControlClient {
    /// `GetStatus`.
    package func getStatus(_ then: @escaping (Result<ControlStatus, ClientError>) -> Void) {
        request(ControlMethod.getStatus.rawValue, [:], then)
    }

    /// `SetSwitches`; the answer is what holds from then on.
    package func setSwitches(
        _ request: SetSwitchesRequest, _ then: @escaping (Result<ControlSwitches, ClientError>) -> Void
    ) {
        self.request(ControlMethod.setSwitches.rawValue, request.json, then)
    }

    /// `ListNetworks`.
    package func listNetworks(_ then: @escaping (Result<ControlNetworks, ClientError>) -> Void) {
        request(ControlMethod.listNetworks.rawValue, [:], then)
    }

    /// `TrustNetwork`.
    /// - Parameter network: its id or interface; nil: the one that this machine is in.
    package func trustNetwork(
        _ network: String?, name: String?, _ then: @escaping (Result<ControlNetworks, ClientError>) -> Void
    ) {
        let parameters: JSONObject = [
            "network": network.map { .string($0) } ?? .null, "name": name.map { .string($0) } ?? .null,
        ]
        request(ControlMethod.trustNetwork.rawValue, parameters, then)
    }

    /// `ForgetNetwork`.
    package func forgetNetwork(
        _ network: String, _ then: @escaping (Result<ControlNetworks, ClientError>) -> Void
    ) {
        request(ControlMethod.forgetNetwork.rawValue, ["network": .string(network)], then)
    }

    /// `Diagnose`.
    package func diagnose(_ then: @escaping (Result<ControlDiagnosis, ClientError>) -> Void) {
        request(ControlMethod.diagnose.rawValue, [:], then)
    }

    /// `ReadLog`.
    /// - Parameter number: only entries after this one.
    package func readLog(after number: Int, _ then: @escaping (Result<ControlLogPage, ClientError>) -> Void) {
        request(ControlMethod.readLog.rawValue, ["after": .integer(Int64(number))], then)
    }

    /// `FollowLog`: each entry after a number, until the connection ends; a failure is the last thing that is said.
    package func followLog(after number: Int, _ each: @escaping (Result<ControlLogEntry, ClientError>) -> Void) {
        followForever(ControlMethod.followLog.rawValue, ["after": .integer(Int64(number))], each)
    }

    /// `CreateAccount`; the answer is the new account.
    package func createAccount(_ then: @escaping (Result<AccountID, ClientError>) -> Void) {
        request(ControlMethod.createAccount.rawValue, field: "account", then)
    }

    /// `GetAccount`.
    package func getAccount(_ then: @escaping (Result<ControlAccount, ClientError>) -> Void) {
        request(ControlMethod.getAccount.rawValue, [:], then)
    }

    /// `ListDevices`.
    package func listDevices(_ then: @escaping (Result<[ControlDevice], ClientError>) -> Void) {
        request(ControlMethod.listDevices.rawValue, field: "devices", then)
    }

    /// `AddPeer`.
    package func addPeer(_ address: String, _ then: @escaping (Result<Void, ClientError>) -> Void) {
        request(ControlMethod.addPeer.rawValue, ["address": .string(address)], then)
    }

    /// `RemovePeer`.
    package func removePeer(_ address: String, _ then: @escaping (Result<Void, ClientError>) -> Void) {
        request(ControlMethod.removePeer.rawValue, ["address": .string(address)], then)
    }

    /// `ListActivities`.
    /// - Parameter here: only what would open on this device.
    package func listActivities(
        here: Bool, _ then: @escaping (Result<[ControlActivity], ClientError>) -> Void
    ) {
        request(ControlMethod.listActivities.rawValue, here ? ["here": true] : [:], field: "activities", then)
    }

    /// `ListPublished`.
    package func listPublished(_ then: @escaping (Result<[ControlPublication], ClientError>) -> Void) {
        request(ControlMethod.listPublished.rawValue, field: "activities", then)
    }

    /// `Withdraw`.
    /// - Parameters:
    ///   - activity: the beginning of its id.
    ///   - then: gets the whole id.
    package func withdraw(_ activity: String, _ then: @escaping (Result<ActivityID, ClientError>) -> Void) {
        request(
            ControlMethod.withdraw.rawValue, ["activity": .string(activity)], field: "activity", then)
    }

    /// `Watch`: an event for each change, until the connection ends; a failure is the last thing that is said.
    package func watch(_ each: @escaping (Result<WatchEvent, ClientError>) -> Void) {
        followForever(ControlMethod.watch.rawValue, [:], each)
    }

    /// `FollowChanges`: what may be asked for again, at once all of it and then after each change, until the connection ends; a failure is
    /// the last thing that is said.
    package func followChanges(_ each: @escaping (Result<ControlChanges, ClientError>) -> Void) {
        followForever(ControlMethod.followChanges.rawValue, [:], each)
    }

    /// `Continue`: `willContinue` once the daemon has chosen, then `continued` or a failure.
    package func continueActivity(
        _ request: ContinueRequest, _ each: @escaping (Result<ContinueEvent, ClientError>) -> Void
    ) {
        follow(ControlMethod.continue.rawValue, request.json) { (result: Result<ContinueEvent, ClientError>, isLast) in
            if isLast, case .success(.willContinue) = result {
                each(.failure(.badAnswer("'willContinue' as last reply")))
            } else {
                each(result)
            }
        }
    }

    /// `ListApps`.
    package func listApps(_ then: @escaping (Result<[ControlApp], ClientError>) -> Void) {
        request(ControlMethod.listApps.rawValue, field: "apps", then)
    }

    /// `SetAppEnabled`.
    /// - Parameters:
    ///   - app: the app's id, or the beginning of it.
    ///   - then: gets the whole id.
    package func setApp(
        _ app: String, enabled: Bool, _ then: @escaping (Result<String, ClientError>) -> Void
    ) {
        request(
            ControlMethod.setAppEnabled.rawValue, ["app": .string(app), "enabled": .bool(enabled)], field: "app", then)
    }

    /// `SetAppNotified`: whether notifications are shown of what the app of this id, or the beginning of it, would open; the whole id.
    package func setApp(
        _ app: String, notified: Bool, _ then: @escaping (Result<String, ClientError>) -> Void
    ) {
        request(
            ControlMethod.setAppNotified.rawValue, ["app": .string(app), "notified": .bool(notified)], field: "app",
            then)
    }
}
