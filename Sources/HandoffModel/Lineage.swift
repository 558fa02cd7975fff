package import HandoffJSON

/// Identifies the states of one activity that several devices have continued one after the other.
package struct Lineage: Hashable, Sendable, Codable {
    /// The id of the offer that was continued first.
    package let id: ActivityID
    /// The number of continuations that lead to this state; 0 for the first device.
    package let step: UInt32

    package init(id: ActivityID, step: UInt32) {
        self.id = id
        self.step = step
    }

    /// The lineage of the state that a device creates by continuing this one.
    package var next: Lineage { Lineage(id: id, step: step == .max ? step : step + 1) }
}

extension Lineage {
    /// Reads the object of a message or payload. Returns nil if it is invalid.
    package init?(message object: JSONObject) {
        guard let id = object["id"]?.string.flatMap({ ActivityID(hex: $0) }),
            let step = object["step"]?.integer.flatMap(UInt32.init(exactly:))
        else { return nil }
        self.init(id: id, step: step)
    }

    /// The object in messages and payloads.
    package var json: JSONObject { ["id": .string(id.hex), "step": .integer(Int64(step))] }
}
