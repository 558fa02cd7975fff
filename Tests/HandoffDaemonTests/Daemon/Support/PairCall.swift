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

    /// Events that came and were not looked at.
    var waiting: Int { call.waiting }

    func next(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> PairEvent {
        try PairEvent(json: try call.result(sourceLocation))
    }

    /// The window of the next event, which must say that it is open.
    func opened(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> PairingWindowDescription {
        let event = try next(sourceLocation)
        guard case .opened(let window) = event else { throw UnexpectedEvent(event) }
        return window
    }

    /// The device of the next event, which must ask about it.
    func confirm(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> PairingDevice {
        let event = try next(sourceLocation)
        guard case .confirm(let device) = event else { throw UnexpectedEvent(event) }
        return device
    }

    /// Takes the last two events, which must tell that a device gets the account and has it.
    func joined(_ device: PairingDevice, _ sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try next(sourceLocation) == .joining(device), sourceLocation: sourceLocation)
        #expect(try next(sourceLocation) == .joined(device), sourceLocation: sourceLocation)
    }

    /// The reason that the window ends with; events before it are passed over.
    func failure(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        try PairingReason(try call.refusal(sourceLocation)).reason
    }

    /// What the window ends with, in words; events before it are passed over.
    func end(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> PairingReason {
        try PairingReason(try call.refusal(sourceLocation))
    }

    /// Is gone, as a program that was killed.
    func close() { call.close() }
}

/// What `PairingFailed` says.
struct PairingReason {
    let reason: String
    let message: String

    init(_ refusal: OpenCall.Refused) throws {
        try #require(refusal.name == ControlErrorName.pairingFailed.rawValue, "\(refusal)")
        reason = try #require(refusal.parameters["reason"]?.string)
        message = try #require(refusal.parameters["message"]?.string)
    }
}
