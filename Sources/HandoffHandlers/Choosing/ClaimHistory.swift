package import HandoffModel

/// What installed apps claim, in the order in which this device first saw it: who comes later takes nothing away from who was
/// there before. A plain value, and text for people: a line `APP type TYPE` or `APP site SITE` for each claim.
///
/// The time of a file would not do: an update makes it new. What an app has claimed once is kept, so that it has its place
/// again after it was installed anew.
package struct ClaimHistory: Sendable, Equatable {
    /// Most claims; later ones have no place, and come behind all that have.
    static let most = 8192
    /// Most bytes of a file.
    package static let longest = most * 520

    /// Something that apps claim.
    package enum Subject: Hashable, Sendable, CustomStringConvertible {
        /// A type, of any team.
        case type(ActivityType)
        /// A site.
        case site(DomainClaim)

        /// As it is written in an app's file.
        package var description: String {
            switch self {
            case .type(let type): type.text
            case .site(let site): site.description
            }
        }
    }

    private struct Claim: Hashable {
        let app: AppID
        let subject: Subject
    }

    private var order: [Claim] = []
    private var places: [Claim: Int] = [:]

    /// Nothing was ever claimed.
    package init() {}

    /// Reads a file; what is no claim is passed over.
    package init(decoding bytes: [UInt8]) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard words.count == 3, let app = AppID(words[0]) else { continue }
            switch words[1] {
            case "type": if let type = ActivityType(words[2]) { add(Claim(app: app, subject: .type(type))) }
            case "site": if let site = DomainClaim(words[2]) { add(Claim(app: app, subject: .site(site))) }
            default: continue
            }
        }
    }

    /// The file's bytes.
    package var encoded: [UInt8] {
        order.flatMap { claim in
            let kind = if case .type = claim.subject { "type" } else { "site" }
            return Array("\(claim.app.text) \(kind) \(claim.subject)\n".utf8)
        }
    }

    /// Takes what is installed now; of what is new at the same time the oldest file comes first.
    /// - Returns: whether anything was new.
    package mutating func take(_ handlers: [Handler]) -> Bool {
        let before = order.count
        for handler in handlers.sorted(by: Handler.isOlder) {
            for type in handler.types.sorted(by: { $0.text < $1.text }) {
                add(Claim(app: handler.id, subject: .type(type)))
            }
            for site in handler.domains { add(Claim(app: handler.id, subject: .site(site))) }
        }
        return order.count > before
    }

    /// The place of the first of these claims of an app; behind all others when it has none.
    func place(of app: AppID, _ subjects: some Sequence<Subject>) -> Int {
        subjects.compactMap { places[Claim(app: app, subject: $0)] }.min() ?? .max
    }

    private mutating func add(_ claim: Claim) {
        guard order.count < Self.most, places[claim] == nil else { return }
        places[claim] = order.count
        order.append(claim)
    }
}
