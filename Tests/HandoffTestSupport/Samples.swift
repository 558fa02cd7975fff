package import HandoffControl
package import HandoffJSON
package import HandoffModel

/// Values for tests, each different from every default.
package enum Sample {
    /// A remote device whose id repeats this byte.
    package static func device(_ byte: UInt8) -> DeviceID { DeviceID(checked: Array(repeating: byte, count: 32)) }

    package static func activityID(_ byte: UInt8) -> ActivityID {
        ActivityID(checked: Array(repeating: byte, count: 16))
    }

    /// The smallest file that a client accepts as an account file: header, two bytes of content,
    /// checksum.
    package static let accountFile =
        "hndf-exp\0\u{1}\0\0\0\0\0\u{2}se" + String(repeating: "c", count: 32)
    package static let account = AccountID(checked: Array(repeating: 0xAC, count: 16))
    package static let stream = StreamID(checked: Array(repeating: 0x5E, count: 16))
    package static let continuation = ContinuationID(checked: Array(repeating: 0xC0, count: 16))

    package static let origin = Origin(
        device: device(0x1A), deviceName: "laptop", deviceKind: .laptop, app: "editor", appVersion: "2.1")

    /// An offer of `device`.
    package static func offer(
        _ byte: UInt8, type: ActivityType, title: String?, deviceName: String = "laptop", age: Double = 5,
        opens: ControlOpens = ControlOpens(kind: .app, name: "Editor")
    ) -> OfferedActivity {
        OfferedActivity(
            id: activityID(byte), type: type, title: title, team: nil, device: device(0x1A), deviceName: deviceName,
            deviceKind: .laptop, streams: false, hasWebpageURL: false, age: age, opens: opens)
    }

    /// A continued activity with a payload.
    package static func continued(type: ActivityType, title: String?, userInfo: JSONObject) -> ContinuedActivity {
        var content = ActivityContent(type: type)
        content.title = title
        content.userInfo = userInfo
        content.webpageURL = "https://example.org/draft"
        content.requiredUserInfoKeys = ["page"]
        return ContinuedActivity(id: activityID(0xA1), content: content, origin: origin)
    }
}
