import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO
import Testing

extension TestDevice {
    /// Opens a pairing window.
    func pair(automatic: Bool? = nil) throws -> PairCall {
        var parameters: JSONObject = [:]
        parameters["automatic"] = automatic.map(JSON.bool)
        return PairCall(try open(ControlMethod.pair.rawValue, parameters, more: true))
    }

    /// Answers the confirmation of the window.
    func answer(_ device: PairingDevice, accept: Bool) throws {
        _ = try call(.answerPairing, ["device": .string(device.id.hex), "accept": .bool(accept)])
    }

    /// Starts joining.
    func join(code: String? = nil, link: String? = nil, address: String? = nil) throws -> JoinCall {
        let request = JoinRequest(code: code, link: link, address: address)
        return JoinCall(try open(ControlMethod.join.rawValue, request.json, more: true))
    }

    /// The names of the members, as this device knows them.
    func members() throws -> Set<String> { Set(try deviceList().map(\.name)) }
}

/// Returns a code of eight digits that is not `code`.
func wrongCode(_ code: String?, _ offset: Int = 1) throws -> String {
    let number = try #require(code.flatMap { Int($0) })
    let text = String((number + offset) % 100_000_000)
    return String(repeating: "0", count: 8 - text.count) + text
}
