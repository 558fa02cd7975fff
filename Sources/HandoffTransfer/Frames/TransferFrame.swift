import HandoffJSON
import HandoffModel

/// One message of the transfer protocol.
package enum TransferFrame: Hashable, Sendable {
    /// Sent by the sender: a description of the content.
    case header(TransferHeader)
    /// Sent by the receiver: the part that it already has.
    case have(TransferHave)
    /// Sent by the sender: the start of the content, or of the next part after a hole.
    case start(TransferStart)
    /// Sent by the receiver: ready for the content.
    case go
    /// Sent by the sender as its last message: all content has been sent, except for these
    /// omissions, and the source has not changed since the transfer started.
    case complete(TransferOmissions)
    /// Sent by the receiver: the content is stored under its name.
    case done
    /// Sent by either side: the transfer has failed.
    case error(TransferFailure)
}

/// The part of the content that a receiver has from an earlier attempt.
package struct TransferHave: Hashable, Sendable {
    /// Bytes of a file, or entries of a folder's archive, counted from the beginning, 0…2^62.
    package let offset: Int64
    /// The digest of that part, computed by `BlockHasher` or `FolderArchive`; nil if the part is
    /// empty.
    package let digest: ContentDigest?
    /// Bytes of the last entry of a folder's archive, 0…2^62; 0 if that entry is a folder.
    let lastBytes: Int64
    /// True if the receiver creates holes. The content may then be sent in several parts, with
    /// zeros between them.
    var supportsHoles = false

    /// Returns nil if only one of offset and digest states that a part exists, or a number is out
    /// of range.
    package init?(offset: Int64, digest: ContentDigest?, lastBytes: Int64 = 0) {
        guard (0...TransferLimits.size).contains(offset), (offset > 0) == (digest != nil) else { return nil }
        guard (0...TransferLimits.size).contains(lastBytes), offset > 0 || lastBytes == 0 else { return nil }
        self.offset = offset
        self.digest = digest
        self.lastBytes = lastBytes
    }

    /// Nothing is present.
    package static let nothing = TransferHave(none: ())

    private init(none: Void) {
        offset = 0
        digest = nil
        lastBytes = 0
    }
}

/// The part of the content that a sender is about to send.
package struct TransferStart: Hashable, Sendable {
    /// The first byte of a file, or entry of a folder's archive, counted from the beginning of the
    /// content.
    package let offset: Int64
    /// The number of bytes; nil if unknown.
    package let length: Int64?

    /// Returns nil if a number is outside the range 0…2^62.
    package init?(offset: Int64, length: Int64?) {
        guard (0...TransferLimits.size).contains(offset) else { return nil }
        if let length, !(0...TransferLimits.size).contains(length) { return nil }
        self.offset = offset
        self.length = length
    }
}

extension TransferFrame {
    /// Returns the frame: the JSON object, preceded by its length (u32, big-endian).
    package func encoded() -> [UInt8] {
        let body = object.encoded()
        var frame: [UInt8] = []
        frame.reserveCapacity(4 + body.count)
        // Every message is far below the limit, see `TransferLimits`.
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: body.count).bigEndian) { frame.append(contentsOf: $0) }
        frame += body
        return frame
    }

    private var object: JSONObject {
        switch self {
        case .header(let header): Self.object(header)
        case .have(let have):
            [
                "have": .integer(have.offset), "lastBytes": .integer(have.lastBytes),
                "sha256": have.digest.map { .string($0.hex) } ?? .null, "holes": .bool(have.supportsHoles),
            ]
        case .start(let start):
            ["from": .integer(start.offset), "length": start.length.map { .integer($0) } ?? .null]
        case .go: ["go": true]
        case .complete(let omissions):
            omissions.isEmpty
                ? ["complete": true]
                : [
                    "complete": true, "omitted": .integer(omissions.count),
                    "omissions": .array(omissions.lines.map { .string($0) }),
                ]
        case .done: ["done": true]
        case .error(let failure):
            [
                "error": [
                    "reason": .string(failure.reason.rawValue),
                    "message": .string(failure.peerMessage),
                ]
            ]
        }
    }

    private static func object(_ header: TransferHeader) -> JSONObject {
        var object: JSONObject = [
            "version": 1, "kind": .string(header.kind.rawValue), "name": header.name.map { .string($0) } ?? .null,
            "size": header.size.map { .integer($0) } ?? .null, "id": header.id.map { .string($0.hex) } ?? .null,
            "mode": header.mode.map { .integer(Int64($0)) } ?? .null,
            "modified": header.modified.map { .integer($0) } ?? .null,
        ]
        if header.hasRepository { object["repository"] = true }
        return object
    }

    /// Parses the JSON object of a frame. Ignores unknown members.
    /// - Throws: `malformed`, or `unsupported` for an unknown version or kind.
    package init(decoding bytes: ArraySlice<UInt8>) throws(TransferFailure) {
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: bytes, limits: JSONLimits(bytes: TransferLimits.frame, depth: 4, members: 64))
        } catch {
            throw .malformed("\(error)")
        }
        guard let object = json.object else { throw .malformed("a message is not a JSON object") }
        let fields = JSONFields<TransferFailure>(object) { key, expected in .malformed("'\(key)' is not \(expected)") }
        if let error = object["error"] {
            self = .error(try Self.failure(error))
        } else if object["version"] != nil {
            self = .header(try Self.header(fields))
        } else if object["have"] != nil {
            let have = TransferHave(
                offset: try fields.integer("have"), digest: try fields.id("sha256"),
                lastBytes: try fields.optionalInteger("lastBytes") ?? 0)
            guard var have else { throw .malformed("'have' and 'sha256' do not match") }
            have.supportsHoles = object["holes"]?.bool == true
            self = .have(have)
        } else if object["from"] != nil {
            let length = try fields.optionalInteger("length")
            guard let start = TransferStart(offset: try fields.integer("from"), length: length) else {
                throw .malformed("'from' or 'length' is out of range")
            }
            self = .start(start)
        } else if object["go"]?.bool == true {
            self = .go
        } else if object["done"]?.bool == true {
            self = .done
        } else if object["complete"]?.bool == true {
            self = .complete(try fields.omissions())
        } else {
            throw .malformed("a message of an unknown kind")
        }
    }

    private static func header(_ fields: JSONFields<TransferFailure>) throws(TransferFailure) -> TransferHeader {
        guard fields.object["version"]?.integer == 1 else {
            throw TransferFailure(.unsupported, "the other device uses a transfer version that is not supported here")
        }
        guard let word = fields.object["kind"]?.string else { throw .malformed("'kind' is missing") }
        guard let kind = TransferHeader.Kind(rawValue: word) else {
            throw TransferFailure(.unsupported, "the other device sends a kind of content that is not supported here")
        }
        let name = try fields.optionalText("name")
        let size = try fields.optionalInteger("size")
        let mode = try fields.optionalInteger("mode")
        let modified = try fields.optionalInteger("modified")
        if let mode, !(0...0o7777).contains(mode) { throw .malformed("'mode' is out of range") }
        let header = TransferHeader(
            kind: kind, name: name, size: size, id: try fields.id("id"),
            mode: mode.map { UInt32(truncatingIfNeeded: $0) }, modified: modified)
        guard var header else { throw .malformed("the description of the content is invalid") }
        header.hasRepository = fields.object["repository"]?.bool == true
        return header
    }

    private static func failure(_ json: JSON) throws(TransferFailure) -> TransferFailure {
        guard let error = json.object, let reason = error["reason"]?.string, let message = error["message"]?.string,
            reason.utf8.count <= TransferLimits.reason, message.utf8.count <= TransferLimits.message
        else { throw .malformed("an error without reason or message") }
        // A newer program may use reasons that are unknown here. Its message still describes the
        // failure.
        return TransferFailure(
            reported: TransferFailure.Reason(rawValue: reason) ?? .failed, VisibleText.escape(message))
    }
}

extension JSONFields where Failure == TransferFailure {
    /// Returns the omissions reported by a sender, or none if the member is absent.
    fileprivate func omissions() throws(TransferFailure) -> TransferOmissions {
        guard let count = try optionalInteger("omitted") else { return .none }
        let lines = object["omissions"]?.array ?? []
        let texts = lines.compactMap(\.string)
        guard texts.count == lines.count, let omissions = TransferOmissions(reported: count, lines: texts) else {
            throw .malformed("'omitted' or 'omissions' is out of range")
        }
        return omissions
    }

    /// Returns an id in its canonical form, or nil if the member is absent or null.
    fileprivate func id<ID: FixedBytes>(_ key: String) throws(TransferFailure) -> ID? {
        guard let json = object[key], !json.isNull else { return nil }
        guard let text = json.string, let id = ID(hex: text), id.hex == text else { throw invalid(key, "an id") }
        return id
    }
}
