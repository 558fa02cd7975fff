import FuzzSupport
import HandoffControl
import HandoffJSON
import HandoffModel

/// The values that clients read.
enum Reply {
    /// One for each value: reads it, and requires that it is the same after it was written.
    static let readers: [@Sendable (JSONObject) -> Void] = [
        reader({ (json) throws(VarlinkError) in try ControlStatus(json: json) }, \.json),
        reader({ (json) throws(VarlinkError) in try ControlAccount(json: json) }, \.json),
        reader({ (json) throws(VarlinkError) in try ControlDevice(Fields(json)) }, \.json),
        reader({ (json) throws(VarlinkError) in try ControlActivity(Fields(json)) }, \.json),
        reader({ (json) throws(VarlinkError) in try ControlApp(Fields(json)) }, \.json),
        reader({ (json) throws(VarlinkError) in try ControlLogPage(json: json) }, \.json),
        reader({ (json) throws(VarlinkError) in try ControlLogEntry(Fields(json)) }, \.json),
        reader({ (json) throws(VarlinkError) in try ControlDiagnosis(json: json) }, \.json),
        reader({ (json) throws(VarlinkError) in try ControlSwitches(json: json) }, \.json),
        reader({ (json) throws(VarlinkError) in try PairEvent(json: json) }, \.json),
        reader({ (json) throws(VarlinkError) in try JoinEvent(json: json) }, \.json),
        reader({ (json) throws(VarlinkError) in try RemovalEvent(json: json) }, \.json),
        reader({ (json) throws(VarlinkError) in try WatchEvent(json: json) }, \.json),
        reader({ (json) throws(VarlinkError) in try ContinueEvent(json: json) }, \.json),
        reader({ (json) throws(VarlinkError) in try AppEvent(json: json) }, \.json),
        reader({ (json) throws(VarlinkError) in try PassFileReply(json: json) }, \.json),
        reader({ (json) throws(VarlinkError) in try AwaitStreamReply(json: json) }, \.json),
        reader({ (json) throws(VarlinkError) in try StreamEndedError(json: json) }, \.json),
        reader({ (json) throws(VarlinkError) in try HandoffFailure(Fields(json)) }, \.json),
    ]

    private static func reader<Value: Equatable & SendableMetatype>(
        _ read: @escaping @Sendable (JSONObject) throws(VarlinkError) -> Value,
        _ json: @escaping @Sendable (Value) -> JSONObject
    ) -> @Sendable (JSONObject) -> Void {
        { object in
            guard let value = try? read(object) else { return }
            let written = json(value)
            guard
                let text = try? JSON(parsing: JSON.object(written).encoded(), limits: JSONLimits(bytes: 1_048_576))
                    .object, let again = try? read(text)
            else {
                fatalError("\(Value.self) cannot be read again")
            }
            require(again == value, "\(Value.self) reads differently")
            require(json(again) == written, "\(Value.self) is written differently the second time")
        }
    }
}
