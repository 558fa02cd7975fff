package import HandoffControl
import HandoffJSON
package import HandoffModel

// The methods of `dev.handoff1.Control` that change who belongs to the account, one function each.
extension ControlClient {
    /// `Pair`: opens the window, and follows it until a device has joined or the window is over; a failure is the last
    /// thing that is said. Closing the connection closes the window.
    /// - Parameter automatic: let the first device in that knows the code.
    package func pair(automatic: Bool, _ each: @escaping (Result<PairEvent, ClientError>) -> Void) {
        follow(
            ControlMethod.pair.rawValue, automatic ? ["automatic": true] : [:],
            isEnd: { if case .joined = $0 { true } else { false } }, each)
    }

    /// `AnswerPairing`, on another connection than the one that `pair` follows.
    package func answerPairing(
        device: DeviceID, accept: Bool, _ then: @escaping (Result<Void, ClientError>) -> Void
    ) {
        request(
            ControlMethod.answerPairing.rawValue, ["device": .string(device.hex), "accept": .bool(accept)], then)
    }

    /// `Join`: follows it until this device is a member; a failure is the last thing that is said. Closing the connection
    /// gives up.
    package func join(_ request: JoinRequest, _ each: @escaping (Result<JoinEvent, ClientError>) -> Void) {
        follow(
            ControlMethod.join.rawValue, request.json,
            isEnd: { if case .joined = $0 { true } else { false } }, each)
    }

    /// `RemoveDevice`: `removed` first, then `confirmed` for each member that hears of it.
    /// - Parameters:
    ///   - device: the device, by its id.
    ///   - drop: devices that it let in, and that go with it.
    ///   - each: is told of each event, and which one is the last; a failure always is.
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

    /// `LeaveAccount`; the answer is the devices that know of it already.
    package func leaveAccount(_ then: @escaping (Result<[DeviceID], ClientError>) -> Void) {
        request(ControlMethod.leaveAccount.rawValue, field: "told", then)
    }

    /// `RotateKey`; the answer is the epoch of the new account key.
    package func rotateKey(_ then: @escaping (Result<Int, ClientError>) -> Void) {
        request(ControlMethod.rotateKey.rawValue, field: "epoch", then)
    }

    /// `RevokeExport`.
    /// - Parameter ticket: the beginning of the ticket's id.
    package func revokeExport(ticket: String, _ then: @escaping (Result<Void, ClientError>) -> Void) {
        request(ControlMethod.revokeExport.rawValue, ["ticket": .string(ticket)], then)
    }

    /// A call with many replies of which the last one must be a certain event: what else ends them is no answer.
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
