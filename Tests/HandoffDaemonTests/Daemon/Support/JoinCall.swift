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

    /// The number of unread events.
    var waiting: Int { call.waiting }

    func next(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> JoinEvent {
        try JoinEvent(json: try call.result(sourceLocation))
    }

    /// Returns the inviting device once its user is asked to confirm. Skips earlier events.
    func inviter(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> PairingDevice {
        while true {
            switch try next(sourceLocation) {
            case .looking, .calling: continue
            case .waiting(let device): return device
            case .joined(let account, _): throw UnexpectedEvent(account)
            }
        }
    }

    /// Returns the account once this device is in it. Skips earlier events.
    func account(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> AccountID {
        while true {
            if case .joined(let account, _) = try next(sourceLocation) { return account }
        }
    }

    /// Returns the reason of the failure. Skips earlier events.
    func failure(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        try PairingReason(try call.refusal(sourceLocation)).reason
    }

    /// Returns the reason of the failure with its message. Skips earlier events.
    func end(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> PairingReason {
        try PairingReason(try call.refusal(sourceLocation))
    }

    /// Returns the error reply. Skips earlier events.
    func refusal(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> OpenCall.Refused {
        try call.refusal(sourceLocation)
    }

    /// Closes the connection, as if the program was killed.
    func close() { call.close() }
}
