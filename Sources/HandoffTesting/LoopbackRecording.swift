import HandoffControl
import HandoffJSON
import HandoffModel

/// What was handed over between devices that are played, in its order, to be handed to an app again: by another version of it, or at another
/// pace.
public struct LoopbackRecording: Sendable, Equatable {
    /// A text is no recording.
    public struct Unreadable: Error, CustomStringConvertible {
        let reason: String

        /// Why, for people.
        public var description: String { "cannot be read: \(reason)" }
    }

    /// One activity that an app was given.
    public struct Step: Sendable, Equatable {
        /// How long after the step before.
        public var after: Duration
        /// The name of the device that it came from.
        public var from: String
        /// The name of the device where it was continued.
        public var to: String
        /// What travelled.
        public var activity: LoopbackActivity

        /// A step with these properties.
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

    /// What was handed over.
    public var steps: [Step]

    /// A recording of these steps.
    public init(steps: [Step] = []) {
        self.steps = steps
    }

    /// A recording that was kept.
    /// - Parameter json: what `json` has given.
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

    /// The recording as JSON, for a file of a test.
    public var json: String {
        let stored = Stored(
            steps: steps.map {
                Stored.Step(
                    after: $0.after / .seconds(1), from: $0.from, to: $0.to, activity: $0.activity.description)
            })
        return String(decoding: stored.json.encoded(), as: UTF8.self)
    }
}
