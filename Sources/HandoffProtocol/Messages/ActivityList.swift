package import HandoffJSON
import HandoffModel

/// The answer to `activities`: everything that a device offers, and the announcement that it belongs to.
package struct ActivityList: Sendable, Equatable {
    /// Position of the device's announcements when the list was made, so that an old answer replaces nothing newer.
    package let position: Position

    /// All activities on offer, most recent first.
    package let activities: [OfferedActivity]

    /// Most activities that one device may offer.
    package static let maxCount = 1024

    /// A list.
    package init(position: Position, activities: [OfferedActivity]) {
        self.position = position
        self.activities = activities
    }

    /// The result of the response.
    package var json: JSONObject {
        [
            "boot": .integer(Int64(clamping: position.boot)), "seq": .integer(Int64(position.seq)),
            "activities": .array(activities.map { .object($0.json) }),
        ]
    }

    /// Reads the result of a response; more than 1,024 elements or an id that occurs twice is an error.
    ///
    /// An element that is no activity, as this version knows them, is left out: the others are on offer all the same.
    package init(json: JSONObject) throws(MessageError) {
        let fields = MessageFields(json)
        guard let boot = try fields.optionalCounter("boot") else { throw .field("boot") }
        guard let seq = UInt32(exactly: try fields.integer("seq")) else { throw .field("seq") }
        guard let elements = json["activities"]?.array, elements.count <= Self.maxCount else {
            throw .field("activities")
        }
        var activities: [OfferedActivity] = []
        var ids: Set<ActivityID> = []
        for element in elements {
            guard let object = element.object, let activity = try? OfferedActivity(json: object) else { continue }
            guard ids.insert(activity.id).inserted else { throw .field("id") }
            activities.append(activity)
        }
        self.init(position: Position(boot: boot, seq: seq), activities: activities)
    }
}
