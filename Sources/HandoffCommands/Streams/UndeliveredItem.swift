import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

/// An item that waited for a device and could not be delivered. It is listed until the user
/// withdraws it.
struct UndeliveredItem: Equatable {
    /// The maximum size of the file of an item, in bytes.
    static let maxFile = 1 << 16
    private static let maxText = 1000

    /// Identifies it in `handoffctl list --mine` and `handoffctl withdraw`.
    let id: ActivityID
    let type: ActivityType
    let title: String?
    /// The recipient.
    let device: DeviceID
    /// Why it could not be delivered, as a fragment.
    let reason: String
    /// The time of the failure, in seconds since 1970.
    let time: Int64

    /// Describes the failure of an item.
    init(_ item: WaitingItem, reason: String) {
        id = ActivityID(checked: (0..<ActivityID.byteCount).map { _ in .random(in: .min ... .max) })
        type = item.request.type
        title = item.title.map { String($0.prefix(Self.maxText)) }
        device = item.device
        self.reason = String(reason.prefix(Self.maxText))
        time = Int64(clamping: SystemWallClock().unixSeconds)
    }

    /// Parses the content of a file.
    /// - Returns: nil for an invalid file, or one of a later version.
    init?(parsing bytes: [UInt8]) {
        guard let object = (try? JSON(parsing: bytes, limits: JSONLimits(bytes: Self.maxFile)))?.object,
            object["version"] == 1, let id = object["id"]?.string.flatMap({ ActivityID(hex: $0) }),
            let type = object["type"]?.string.flatMap({ ActivityType($0) }),
            let device = object["device"]?.string.flatMap({ DeviceID(hex: $0) }),
            let reason = object["reason"]?.string, let time = object["time"]?.integer
        else { return nil }
        self.id = id
        self.type = type
        title = object["title"]?.string
        self.device = device
        self.reason = reason
        self.time = time
    }

    /// The content of its file.
    var encoded: [UInt8] {
        let object: JSONObject = [
            "version": 1, "id": .string(id.hex), "type": .string(type.text),
            "title": title.map { .string($0) } ?? .null, "device": .string(device.hex), "reason": .string(reason),
            "time": .integer(time),
        ]
        return JSON.object(object).encoded()
    }

    /// The item as `handoffctl list --mine` shows it. Its age is that of the failure.
    var shown: PublishedActivity {
        PublishedActivity(
            id: id, type: type, title: title, app: nil, to: device, offered: false, reason: reason,
            age: max(0, Double(SystemWallClock().unixSeconds) - Double(time)))
    }
}
