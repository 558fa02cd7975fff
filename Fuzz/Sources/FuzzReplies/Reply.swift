import FuzzSupport
import HandoffControl
import HandoffJSON
import HandoffModel

/// The values that clients read.
enum Reply {
    /// One for each value: reads it, and requires that it is the same after it was written.
    static let readers: [@Sendable (JSONObject) -> Void] = [
        reader(ControlStatus.self),
        reader(ControlAccount.self),
        reader(ControlDevice.self),
        reader(OfferedActivity.self),
        reader(ControlApp.self),
        reader(ControlLogPage.self),
        reader(ControlLogEntry.self),
        reader(ControlDiagnosis.self),
        reader(ControlSwitches.self),
        reader(PairEvent.self),
        reader(JoinEvent.self),
        reader(RemovalEvent.self),
        reader(WatchEvent.self),
        reader(ContinueEvent.self),
        reader(AppEvent.self),
        reader(PassFileReply.self),
        reader(AwaitStreamReply.self),
        reader(StreamEndedError.self),
        reader(HandoffFailure.self),
    ]

    private static func reader<Value: ControlMessage>(_ type: Value.Type) -> @Sendable (JSONObject) -> Void {
        { object in
            guard let value = try? Value(json: object) else { return }
            let written = value.json
            guard
                let text = try? JSON(parsing: JSON.object(written).encoded(), limits: JSONLimits(bytes: 1_048_576))
                    .object, let again = try? Value(json: text)
            else {
                fatalError("\(Value.self) cannot be read again")
            }
            require(again == value, "\(Value.self) reads differently")
            require(again.json == written, "\(Value.self) is written differently the second time")
        }
    }
}
