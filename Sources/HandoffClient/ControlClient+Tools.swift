package import HandoffControl
import HandoffJSON
package import HandoffModel

// The methods of `dev.handoff1.Control`, one function each.
extension ControlClient {
    /// Calls `GetStatus`.
    package func getStatus(_ then: @escaping (Result<ControlStatus, ClientError>) -> Void) {
        request(ControlMethod.getStatus.rawValue, [:], then)
    }

    /// Calls `SetSwitches`. Returns the new settings.
    package func setSwitches(
        _ request: SetSwitchesRequest, _ then: @escaping (Result<ControlSwitches, ClientError>) -> Void
    ) {
        self.request(ControlMethod.setSwitches.rawValue, request.json, then)
    }

    /// Calls `ListNetworks`.
    package func listNetworks(_ then: @escaping (Result<ControlNetworks, ClientError>) -> Void) {
        request(ControlMethod.listNetworks.rawValue, [:], then)
    }

    /// Calls `TrustNetwork`.
    /// - Parameter network: its ID or interface; nil for the network that this machine is in.
    package func trustNetwork(
        _ network: String?, name: String?, _ then: @escaping (Result<ControlNetworks, ClientError>) -> Void
    ) {
        let parameters: JSONObject = [
            "network": network.map { .string($0) } ?? .null, "name": name.map { .string($0) } ?? .null,
        ]
        request(ControlMethod.trustNetwork.rawValue, parameters, then)
    }

    /// Calls `ForgetNetwork`.
    package func forgetNetwork(
        _ network: String, _ then: @escaping (Result<ControlNetworks, ClientError>) -> Void
    ) {
        request(ControlMethod.forgetNetwork.rawValue, ["network": .string(network)], then)
    }

    /// Calls `Diagnose`.
    package func diagnose(_ then: @escaping (Result<ControlDiagnosis, ClientError>) -> Void) {
        request(ControlMethod.diagnose.rawValue, [:], then)
    }

    /// Calls `ReadLog`.
    /// - Parameter number: only entries after this one are returned.
    package func readLog(after number: Int, _ then: @escaping (Result<ControlLogPage, ClientError>) -> Void) {
        request(ControlMethod.readLog.rawValue, ["after": .integer(Int64(number))], then)
    }

    /// Calls `FollowLog`: reports each entry after a number, until the connection ends. A failure
    /// is the last report.
    package func followLog(after number: Int, _ each: @escaping (Result<ControlLogEntry, ClientError>) -> Void) {
        followIndefinitely(ControlMethod.followLog.rawValue, ["after": .integer(Int64(number))], each)
    }

    /// Calls `CreateAccount`. Returns the new account.
    package func createAccount(_ then: @escaping (Result<AccountID, ClientError>) -> Void) {
        request(ControlMethod.createAccount.rawValue, field: "account", then)
    }

    /// Calls `GetAccount`.
    package func getAccount(_ then: @escaping (Result<ControlAccount, ClientError>) -> Void) {
        request(ControlMethod.getAccount.rawValue, [:], then)
    }

    /// Calls `ListDevices`.
    package func listDevices(_ then: @escaping (Result<[ControlDevice], ClientError>) -> Void) {
        request(ControlMethod.listDevices.rawValue, field: "devices", then)
    }

    /// Calls `AddPeer`.
    package func addPeer(_ address: String, _ then: @escaping (Result<Void, ClientError>) -> Void) {
        request(ControlMethod.addPeer.rawValue, ["address": .string(address)], then)
    }

    /// Calls `RemovePeer`.
    package func removePeer(_ address: String, _ then: @escaping (Result<Void, ClientError>) -> Void) {
        request(ControlMethod.removePeer.rawValue, ["address": .string(address)], then)
    }

    /// Calls `ListActivities`.
    /// - Parameters:
    ///   - here: whether to return only activities that would open on this device.
    ///   - recent: whether to return the kept activities that no device offers now.
    package func listActivities(
        here: Bool, recent: Bool = false, _ then: @escaping (Result<[OfferedActivity], ClientError>) -> Void
    ) {
        var parameters: JSONObject = here ? ["here": true] : [:]
        if recent { parameters["recent"] = true }
        request(ControlMethod.listActivities.rawValue, parameters, field: "activities", then)
    }

    /// Calls `ListPublished`.
    package func listPublished(_ then: @escaping (Result<[PublishedActivity], ClientError>) -> Void) {
        request(ControlMethod.listPublished.rawValue, field: "activities", then)
    }

    /// Calls `Withdraw`.
    /// - Parameters:
    ///   - activity: a prefix of its ID.
    ///   - then: receives the complete ID.
    package func withdraw(_ activity: String, _ then: @escaping (Result<ActivityID, ClientError>) -> Void) {
        request(
            ControlMethod.withdraw.rawValue, ["activity": .string(activity)], field: "activity", then)
    }

    /// Calls `Watch`: reports an event for each change, until the connection ends. A failure is the
    /// last report.
    package func watch(_ each: @escaping (Result<WatchEvent, ClientError>) -> Void) {
        followIndefinitely(ControlMethod.watch.rawValue, [:], each)
    }

    /// Calls `FollowChanges`: reports which data to request again, first all of it and then after
    /// each change, until the connection ends. A failure is the last report.
    package func followChanges(_ each: @escaping (Result<ControlChanges, ClientError>) -> Void) {
        followIndefinitely(ControlMethod.followChanges.rawValue, [:], each)
    }

    /// Calls `Continue`: reports `willContinue` after the daemon has made its choice, then
    /// `continued` or a failure.
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

    /// Calls `ListApps`.
    package func listApps(_ then: @escaping (Result<[ControlApp], ClientError>) -> Void) {
        request(ControlMethod.listApps.rawValue, field: "apps", then)
    }

    /// Calls `SetAppEnabled`.
    /// - Parameters:
    ///   - app: the app's ID, or a prefix of it.
    ///   - then: receives the complete ID.
    package func setApp(
        _ app: String, enabled: Bool, _ then: @escaping (Result<String, ClientError>) -> Void
    ) {
        request(
            ControlMethod.setAppEnabled.rawValue, ["app": .string(app), "enabled": .bool(enabled)], field: "app", then)
    }

    /// Calls `SetAppNotified`, which sets whether notifications are shown for activities that an
    /// app would open. Accepts the app's ID or a prefix of it, and returns the complete ID.
    package func setApp(
        _ app: String, notified: Bool, _ then: @escaping (Result<String, ClientError>) -> Void
    ) {
        request(
            ControlMethod.setAppNotified.rawValue, ["app": .string(app), "notified": .bool(notified)], field: "app",
            then)
    }

    /// Calls `SetAppKept`, which sets whether other devices may keep the activities of an app.
    /// Accepts the app's ID or a prefix of it, and returns the complete ID.
    package func setApp(_ app: String, kept: Bool, _ then: @escaping (Result<String, ClientError>) -> Void) {
        request(ControlMethod.setAppKept.rawValue, ["app": .string(app), "kept": .bool(kept)], field: "app", then)
    }
}
