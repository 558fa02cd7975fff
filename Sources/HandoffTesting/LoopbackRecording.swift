import HandoffControl
import HandoffJSON
import HandoffModel

/// The activities handed over between simulated devices, in order. They can be replayed to another
/// version of an app, or at another speed.
public struct LoopbackRecording: Sendable, Equatable {
    /// The error for a text that is not a recording.
    public struct Unreadable: Error, CustomStringConvertible {
        let reason: String

        /// The user-readable reason.
        public var description: String { "cannot be read: \(reason)" }
    }

    /// An activity that an app received.
    public struct Step: Sendable, Equatable {
        /// The time since the previous step.
        public var after: Duration
        /// The name of the sending device.
        public var from: String
        /// The name of the device that continued the activity.
        public var to: String
        /// The activity as it was sent.
        public var activity: LoopbackActivity

        /// Creates a step.
        public init(after: Duration = .zero, from: String, to: String, activity: LoopbackActivity) {
            self.after = after
            self.from = from
            self.to = to
            self.activity = activity
        }
    }

    private struct Stored: ControlRequest {
        struct Step: ControlRequest {
            var after: Double
            var from: String
            var to: String
            var activity: ActivityDescription
        }

        var steps: [Step]
    }

    /// The activities, in order.
    public var steps: [Step]

    /// Creates a recording from steps.
    public init(steps: [Step] = []) {
        self.steps = steps
    }

    /// Creates a recording from JSON.
    /// - Parameter json: a value of `json`.
    /// - Throws: `Unreadable`.
    public init(json: String) throws {
        do {
            let object = try JSON(parsing: Array(json.utf8), limits: LoopbackActivity.limits).object
            let stored = try Stored(json: object ?? [:])
            steps = stored.steps.map {
                Step(
                    after: .seconds($0.after), from: $0.from, to: $0.to, activity: LoopbackActivity($0.activity))
            }
        } catch {
            throw Unreadable(reason: "\(error)")
        }
    }

    /// The recording as JSON, for a test's file.
    public var json: String {
        let stored = Stored(
            steps: steps.map {
                Stored.Step(
                    after: $0.after / .seconds(1), from: $0.from, to: $0.to, activity: $0.activity.description)
            })
        return String(decoding: stored.json.encoded(), as: UTF8.self)
    }
}
