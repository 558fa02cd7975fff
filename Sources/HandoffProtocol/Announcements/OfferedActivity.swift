package import HandoffJSON
package import HandoffModel

/// What another device says about an activity that can be continued from it; the payload is fetched later.
package struct OfferedActivity: Sendable {
    /// Random id, void as soon as the activity is withdrawn.
    package let id: ActivityID

    /// Type of the activity.
    package let type: ActivityType

    /// What the user calls it; nil when there is none or titles are switched off.
    package let title: String?

    /// Team of the app; only apps of the same team continue it, save for the web.
    package let team: String?

    /// The continuing app may ask for streams.
    package let supportsStreams: Bool

    /// A web page can take over where no app does.
    package let hasWebpageURL: Bool

    /// Seconds since it became what the user does, when this was written.
    package let age: UInt32

    /// Its user has sent it to the device that reads this, and no other one is told of it.
    package let isSent: Bool

    /// At the device that offers it: to which device it is sent. Nil: it is offered to all; or somebody else offers it.
    package let recipient: DeviceID?

    /// Describes an activity; texts longer than their limits are the caller's to cut.
    package init(
        id: ActivityID, type: ActivityType, title: String?, team: String?, supportsStreams: Bool,
        hasWebpageURL: Bool, age: UInt32, isSent: Bool = false, recipient: DeviceID? = nil
    ) {
        self.isSent = isSent || recipient != nil
        self.recipient = recipient
        self.id = id
        self.type = type
        self.title = title
        self.team = team
        self.supportsStreams = supportsStreams
        self.hasWebpageURL = hasWebpageURL
        self.age = age
    }

    /// Whether a device is told of it, by the device that offers it.
    package func isMeant(for device: DeviceID) -> Bool { recipient == nil || recipient == device }

    /// True when nothing differs but the age, so that no user would see a change. Texts are compared as bytes; `==` would
    /// take composed and decomposed letters for equal.
    package func hasSameContent(as other: OfferedActivity) -> Bool {
        id == other.id && type == other.type && title.hasSameBytes(as: other.title)
            && team.hasSameBytes(as: other.team) && supportsStreams == other.supportsStreams
            && hasWebpageURL == other.hasWebpageURL && isSent == other.isSent && recipient == other.recipient
    }
}

extension OfferedActivity: Hashable {
    /// Equal in all fields, texts as bytes.
    package static func == (left: OfferedActivity, right: OfferedActivity) -> Bool {
        left.hasSameContent(as: right) && left.age == right.age
    }

    /// Hashes the id alone: it is random, and two values with one id are rare.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}

extension OfferedActivity {
    /// Longest title in an announcement in bytes; longer ones are cut, since they would push activities out.
    package static let announcedTitleCount = 128

    /// Longest title that is kept of a list, in bytes: of what many devices offer, one answer to a client must hold all.
    static let listedTitleCount = 256

    /// Longest text of any field in bytes, as one byte tells its length.
    package static let maxTextCount = 255

    private static let streamsFlag: UInt8 = 1
    private static let webFlag: UInt8 = 2
    private static let titleFlag: UInt8 = 4
    private static let teamFlag: UInt8 = 8
    private static let sentFlag: UInt8 = 16

    /// Reads one activity of an announcement; unknown flags are ignored.
    init(reading reader: inout ByteReader) throws(ByteError) {
        guard let id = ActivityID(bytes: try reader.bytes(ActivityID.byteCount)) else { throw .malformed }
        let age = try reader.u32()
        let flags = try reader.u8()
        guard let type = ActivityType(try reader.text(Int(try reader.u8()))) else { throw .malformed }
        let title = flags & Self.titleFlag != 0 ? try reader.text(Int(try reader.u8())) : nil
        let team = flags & Self.teamFlag != 0 ? try reader.text(Int(try reader.u8())) : nil
        self.init(
            id: id, type: type, title: title, team: team, supportsStreams: flags & Self.streamsFlag != 0,
            hasWebpageURL: flags & Self.webFlag != 0, age: age, isSent: flags & Self.sentFlag != 0)
    }

    /// Bytes of the activity in an announcement; nil when a field is longer than its length byte can say.
    func announced(isGreased: Bool = false) -> [UInt8]? {
        let title = title.map { Self.cut($0, to: Self.announcedTitleCount) }
        guard let typeCount = UInt8(exactly: type.text.utf8.count),
            let titleCount = UInt8(exactly: title?.utf8.count ?? 0),
            let teamCount = UInt8(exactly: team?.utf8.count ?? 0)
        else { return nil }
        var flags: UInt8 = isGreased ? Grease.flag : 0
        if supportsStreams { flags |= Self.streamsFlag }
        if hasWebpageURL { flags |= Self.webFlag }
        if title != nil { flags |= Self.titleFlag }
        if team != nil { flags |= Self.teamFlag }
        if isSent { flags |= Self.sentFlag }
        var writer = ByteWriter(capacity: 256)
        writer.raw(id.bytes)
        writer.u32(age)
        writer.u8(flags)
        writer.u8(typeCount)
        writer.text(type.text)
        if let title {
            writer.u8(titleCount)
            writer.text(title)
        }
        if let team {
            writer.u8(teamCount)
            writer.text(team)
        }
        return writer.bytes
    }

    /// The text, or as many whole characters of it as fit with an ellipsis into `count` bytes.
    private static func cut(_ text: String, to count: Int) -> String {
        guard text.utf8.count > count else { return text }
        let ellipsis = "…"
        var result = ""
        var used = ellipsis.utf8.count
        for character in text {
            used += String(character).utf8.count
            guard used <= count else { break }
            result.append(character)
        }
        return result + ellipsis
    }

    /// The activity as an element of the answer to `activities`.
    package var json: JSONObject {
        var object: JSONObject = ["id": .string(id.hex), "type": .string(type.text)]
        if let title { object["title"] = .string(title) }
        if let team { object["team"] = .string(team) }
        object["streams"] = .bool(supportsStreams)
        object["webpageURL"] = .bool(hasWebpageURL)
        object["age"] = .integer(Int64(age))
        if isSent { object["sent"] = true }
        return object
    }

    /// Reads an element of the answer to `activities`; unknown keys are ignored.
    package init(json: JSONObject) throws(MessageError) {
        let fields = MessageFields(json)
        guard let id = ActivityID(hex: try fields.text("id", maximum: 64)) else { throw .field("id") }
        guard let type = ActivityType(try fields.text("type", maximum: Self.maxTextCount)) else {
            throw .field("type")
        }
        let title = try fields.optionalText("title", maximum: 4096).map { Self.cut($0, to: Self.listedTitleCount) }
        let team = try fields.optionalText("team", maximum: Self.maxTextCount)
        guard let age = UInt32(exactly: try fields.integer("age")) else { throw .field("age") }
        self.init(
            id: id, type: type, title: title, team: team, supportsStreams: try fields.flag("streams"),
            hasWebpageURL: try fields.flag("webpageURL"), age: age, isSent: try fields.flag("sent"))
    }
}
