import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO
import Testing

/// A client that has opened a pairing window on a device.
final class PairCall {
    private let call: OpenCall

    init(_ call: OpenCall) {
        self.call = call
    }

    /// The number of unread events.
    var waiting: Int { call.waiting }

    func next(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> PairEvent {
        try PairEvent(json: try call.result(sourceLocation))
    }

    /// Returns the window of the next event, which must be `opened`.
    func opened(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> PairingWindowDescription {
        let event = try next(sourceLocation)
        guard case .opened(let window) = event else { throw UnexpectedEvent(event) }
        return window
    }

    /// Returns the device of the next event, which must request its confirmation.
    func confirm(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> PairingDevice {
        let event = try next(sourceLocation)
        guard case .confirm(let device) = event else { throw UnexpectedEvent(event) }
        return device
    }

    /// Reads the last two events, which must report that a device receives the account and has
    /// joined.
    func joined(_ device: PairingDevice, _ sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try next(sourceLocation) == .joining(device), sourceLocation: sourceLocation)
        #expect(try next(sourceLocation) == .joined(device), sourceLocation: sourceLocation)
    }

    /// Returns the reason why the window ended. Skips earlier events.
    func failure(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        try PairingReason(try call.refusal(sourceLocation)).reason
    }

    /// Returns the reason why the window ended, with its message. Skips earlier events.
    func end(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> PairingReason {
        try PairingReason(try call.refusal(sourceLocation))
    }

    /// Closes the connection, as if the program was killed.
    func close() { call.close() }
}

/// The parameters of `PairingFailed`.
struct PairingReason {
    let reason: String
    let message: String

    init(_ refusal: OpenCall.Refused) throws {
        try #require(refusal.name == ControlErrorName.pairingFailed.rawValue, "\(refusal)")
        reason = try #require(refusal.parameters["reason"]?.string)
        message = try #require(refusal.parameters["message"]?.string)
    }
}
