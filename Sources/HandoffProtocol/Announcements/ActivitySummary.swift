package import HandoffJSON
package import HandoffModel

/// An activity on offer, as its device announces it. The payload is fetched later.
package struct ActivitySummary: Sendable {
    /// The random id, which becomes void when the activity is withdrawn.
    package let id: ActivityID

    package let type: ActivityType

    /// The title for the user; nil if there is none or titles are disabled.
    package var title: String?

    /// The team of the app. Only apps of the same team continue the activity, except on the web.
    package let team: String?

    /// True if the continuing app may request streams.
    package let supportsStreams: Bool

    /// True if a web page can continue the activity when no app does.
    package let hasWebpageURL: Bool

    /// The number of seconds since the activity became current, when this value was written.
    package let age: UInt32

    /// True if the user sent the activity to the device that reads this. No other device receives
    /// it.
    package let isSent: Bool

    /// The activity that it continues. Only lists and payloads contain it.
    package let lineage: Lineage?

    /// True if its app edits the content exclusively. Only lists and payloads contain it.
    package let isExclusive: Bool

    /// Creates the description of an activity. The caller must truncate texts that exceed their
    /// limits.
    package init(
        id: ActivityID, type: ActivityType, title: String?, team: String?, supportsStreams: Bool,
        hasWebpageURL: Bool, age: UInt32, isSent: Bool = false, lineage: Lineage? = nil, isExclusive: Bool = false
    ) {
        self.lineage = lineage
        self.isExclusive = isExclusive
        self.isSent = isSent
        self.id = id
        self.type = type
        self.title = title
        self.team = team
        self.supportsStreams = supportsStreams
        self.hasWebpageURL = hasWebpageURL
        self.age = age
    }

    /// True if an announcement does not contain all of its properties, so that the list is needed.
    var isListedOnly: Bool { lineage != nil || isExclusive }

    /// Its lineage: without one, it is the first of its own.
    package var ownLineage: Lineage { lineage ?? Lineage(id: id, step: 0) }

    /// Returns true if only the age differs, so that no change is visible to the user. Texts are
    /// compared as bytes, because `==` treats composed and decomposed letters as equal.
    package func hasSameContent(as other: ActivitySummary) -> Bool {
        id == other.id && type == other.type && title.hasSameBytes(as: other.title)
            && team.hasSameBytes(as: other.team) && supportsStreams == other.supportsStreams
            && hasWebpageURL == other.hasWebpageURL && isSent == other.isSent
            && lineage == other.lineage && isExclusive == other.isExclusive
    }
}

extension ActivitySummary: Hashable {
    /// Compares all fields, texts as bytes.
    package static func == (left: ActivitySummary, right: ActivitySummary) -> Bool {
        left.hasSameContent(as: right) && left.age == right.age
    }

    /// Hashes only the id. It is random, and two values with the same id are rare.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}

extension ActivitySummary {
    /// The maximum length of a title in an announcement, in bytes. Longer titles are truncated so
    /// that they do not displace activities.
    static let announcedTitleCount = 128

    /// The maximum length of a title to keep from a list, in bytes. One response to a client must
    /// have room for the offers of many devices.
    static let listedTitleCount = 256

    /// The maximum length of the text of any field, in bytes. One byte stores its length.
    static let maxTextCount = 255

    private static let streamsFlag: UInt8 = 1
    private static let webFlag: UInt8 = 2
    private static let titleFlag: UInt8 = 4
    private static let teamFlag: UInt8 = 8
    private static let sentFlag: UInt8 = 16

    /// Reads one activity of an announcement. Unknown flags are ignored.
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

    /// Returns the bytes of the activity in an announcement, or nil if a field is too long for its
    /// length byte.
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

    /// Returns the text, or as many whole characters of it as fit in `count` bytes with an
    /// ellipsis.
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

    /// The activity as an element of the response to `activities`.
    package var json: JSONObject {
        var object: JSONObject = ["id": .string(id.hex), "type": .string(type.text)]
        if let title { object["title"] = .string(title) }
        if let team { object["team"] = .string(team) }
        object["streams"] = .bool(supportsStreams)
        object["webpageURL"] = .bool(hasWebpageURL)
        object["age"] = .integer(Int64(age))
        if isSent { object["sent"] = true }
        if let lineage { object["lineage"] = .object(lineage.json) }
        if isExclusive { object["exclusive"] = true }
        return object
    }

    /// Reads an element of the response to `activities`. Unknown keys are ignored.
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
            id: id, type: type, title: title, team: team, supportsStreams: try fields.isSet("streams"),
            hasWebpageURL: try fields.isSet("webpageURL"), age: age, isSent: try fields.isSet("sent"),
            lineage: try fields.optionalObject("lineage").flatMap(Lineage.init(message:)),
            isExclusive: try fields.isSet("exclusive"))
    }
}
