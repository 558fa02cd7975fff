package import HandoffJSON
import HandoffModel

/// The response to `activities`: all activities that a device offers, and the announcement to which
/// they belong.
package struct ActivityList: Sendable, Equatable {
    /// The position of the device's announcements when the list was created, so that an old
    /// response does not replace a newer one.
    package let position: Position

    /// All offered activities, most recent first.
    package let activities: [ActivitySummary]

    /// The maximum number of activities that one device may offer.
    package static let maxCount = 1024

    package init(position: Position, activities: [ActivitySummary]) {
        self.position = position
        self.activities = activities
    }

    /// The result of the response.
    package var json: JSONObject {
        [
            "boot": .integer(Int64(clamping: position.generation)), "seq": .integer(Int64(position.seq)),
            "activities": .array(activities.map { .object($0.json) }),
        ]
    }

    /// Reads the result of a response. More than 1,024 elements or a duplicate id is an error.
    ///
    /// An element that this version does not recognise as an activity is skipped. The others are
    /// still on offer.
    package init(json: JSONObject) throws(MessageError) {
        let fields = MessageFields(json)
        guard let generation = try fields.optionalCounter("boot") else { throw .field("boot") }
        guard let seq = UInt32(exactly: try fields.integer("seq")) else { throw .field("seq") }
        guard let elements = json["activities"]?.array, elements.count <= Self.maxCount else {
            throw .field("activities")
        }
        var activities: [ActivitySummary] = []
        var ids: Set<ActivityID> = []
        for element in elements {
            guard let object = element.object, let activity = try? ActivitySummary(json: object) else { continue }
            guard ids.insert(activity.id).inserted else { throw .field("id") }
            activities.append(activity)
        }
        self.init(position: Position(generation: generation, seq: seq), activities: activities)
    }
}
