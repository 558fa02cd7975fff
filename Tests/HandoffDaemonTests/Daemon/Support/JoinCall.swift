import HandoffControl
import HandoffModel
import LoopIO
import Testing

/// A client that has a device join by pairing.
final class JoinCall {
    private let call: OpenCall

    init(_ call: OpenCall) {
        self.call = call
    }

    /// Events that came and were not looked at.
    var waiting: Int { call.waiting }

    func next(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> JoinEvent {
        try JoinEvent(json: try call.result(sourceLocation))
    }

    /// The inviting device, once its user is asked; events before that are passed over.
    func inviter(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> PairingDevice {
        while true {
            switch try next(sourceLocation) {
            case .looking, .calling: continue
            case .waiting(let device): return device
            case .joined(let account, _): throw UnexpectedEvent(account)
            }
        }
    }

    /// The account, once this device is in it; events before that are passed over.
    func account(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> AccountID {
        while true {
            if case .joined(let account, _) = try next(sourceLocation) { return account }
        }
    }

    /// The reason that it ends with; events before it are passed over.
    func failure(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        try PairingReason(try call.refusal(sourceLocation)).reason
    }

    /// What it ends with, in words; events before it are passed over.
    func end(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> PairingReason {
        try PairingReason(try call.refusal(sourceLocation))
    }

    /// The error that it ends with.
    func refusal(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> OpenCall.Refused {
        try call.refusal(sourceLocation)
    }

    /// Is gone, as a program that was killed.
    func close() { call.close() }
}
