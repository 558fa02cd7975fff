package import HandoffControl
import HandoffJSON
package import HandoffModel

// The methods of `dev.handoff1.Control` that change the membership of the account, one function
// each.
extension ControlClient {
    /// Calls `Pair`: opens the pairing window, and follows it until a device has joined or the
    /// window is closed. A failure is the last report. Closing the connection closes the window.
    /// - Parameter automatic: whether to admit the first device that knows the code.
    package func pair(automatic: Bool, _ each: @escaping (Result<PairEvent, ClientError>) -> Void) {
        follow(
            ControlMethod.pair.rawValue, automatic ? ["automatic": true] : [:],
            isEnd: { if case .joined = $0 { true } else { false } }, each)
    }

    /// Calls `AnswerPairing`. It needs a separate connection from the one that `pair` follows.
    package func answerPairing(
        device: DeviceID, accept: Bool, _ then: @escaping (Result<Void, ClientError>) -> Void
    ) {
        request(
            ControlMethod.answerPairing.rawValue, ["device": .string(device.hex), "accept": .bool(accept)], then)
    }

    /// Calls `Join`, and follows it until this device is a member. A failure is the last report.
    /// Closing the connection cancels joining.
    package func join(_ request: JoinRequest, _ each: @escaping (Result<JoinEvent, ClientError>) -> Void) {
        follow(
            ControlMethod.join.rawValue, request.json,
            isEnd: { if case .joined = $0 { true } else { false } }, each)
    }

    /// Calls `RemoveDevice`: reports `removed` first, then `confirmed` for each member that learns
    /// of it.
    /// - Parameters:
    ///   - device: the device's ID.
    ///   - drop: devices that it has admitted, which are removed with it.
    ///   - each: receives each event, and whether it is the last; a failure always is.
    package func removeDevice(
        _ device: DeviceID, drop: [DeviceID], _ each: @escaping (Result<RemovalEvent, ClientError>, Bool) -> Void
    ) {
        var parameters: JSONObject = ["device": .string(device.hex)]
        if !drop.isEmpty { parameters["drop"] = .array(drop.map { .string($0.hex) }) }
        follow(ControlMethod.removeDevice.rawValue, parameters, each)
    }

    /// `RenameDevice`.
    package func renameDevice(
        _ device: DeviceID, name: String, _ then: @escaping (Result<Void, ClientError>) -> Void
    ) {
        request(
            ControlMethod.renameDevice.rawValue, ["device": .string(device.hex), "name": .string(name)], then)
    }

    /// Calls `SetDeviceAccepted`.
    /// - Parameter limit: the maximum size in bytes; nil to prompt for each item.
    package func setAccepted(
        _ device: DeviceID, limit: Int64?, _ then: @escaping (Result<Void, ClientError>) -> Void
    ) {
        let parameters: JSONObject = [
            "device": .string(device.hex), "limit": limit.map { .integer($0) } ?? .null,
        ]
        request(ControlMethod.setDeviceAccepted.rawValue, parameters, then)
    }

    /// Calls `LeaveAccount`. Returns the devices that have already learned of it.
    package func leaveAccount(_ then: @escaping (Result<[DeviceID], ClientError>) -> Void) {
        request(ControlMethod.leaveAccount.rawValue, field: "told", then)
    }

    /// Calls `RotateKey`. Returns the epoch of the new account key.
    package func rotateKey(_ then: @escaping (Result<Int, ClientError>) -> Void) {
        request(ControlMethod.rotateKey.rawValue, field: "epoch", then)
    }

    /// Calls `RevokeExport`.
    /// - Parameter ticket: a prefix of the ticket's ID.
    package func revokeExport(ticket: String, _ then: @escaping (Result<Void, ClientError>) -> Void) {
        request(ControlMethod.revokeExport.rawValue, ["ticket": .string(ticket)], then)
    }

    /// Makes a call with several replies, the last of which must be a certain event. Any other last
    /// event is an invalid reply.
    private func follow<Value: ControlMessage>(
        _ method: String, _ parameters: JSONObject, isEnd: @escaping (Value) -> Bool,
        _ each: @escaping (Result<Value, ClientError>) -> Void
    ) {
        follow(method, parameters) { (result: Result<Value, ClientError>, isLast) in
            if isLast, case .success(let value) = result, !isEnd(value) {
                each(.failure(.badAnswer("the events ended too early")))
            } else {
                each(result)
            }
        }
    }
}
