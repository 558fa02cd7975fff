package import HandoffModel

/// The claims of installed apps in the order in which this device first saw them, so that a later
/// app does not displace an earlier one. A plain value. The text form has a line `APP type TYPE` or
/// `APP site SITE` for each claim.
///
/// The time of a file is not sufficient, because an update changes it. Claims are kept after an app
/// is removed, so that it regains its position when it is installed again.
package struct ClaimHistory: Sendable, Equatable {
    /// The maximum number of claims. Later ones have no position and come after all others.
    static let maxClaims = 8192
    /// The maximum size of a file, in bytes.
    package static let maxBytes = maxClaims * 520

    /// The subject of a claim.
    package enum Subject: Hashable, Sendable, CustomStringConvertible {
        /// A type, of any team.
        case type(ActivityType)
        /// A site.
        case site(DomainClaim)

        /// The subject as written in an app's file.
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

    /// Creates an empty history.
    package init() {}

    /// Parses a file. Ignores invalid lines.
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

    /// The content of the file.
    package var encoded: [UInt8] {
        order.flatMap { claim in
            let kind = if case .type = claim.subject { "type" } else { "site" }
            return Array("\(claim.app.text) \(kind) \(claim.subject)\n".utf8)
        }
    }

    /// Adds the claims of the installed apps. Among new ones, the oldest file comes first.
    /// - Returns: True if any claim was new.
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

    /// Returns the position of an app's first claim among these; the maximum if it has none.
    func place(of app: AppID, _ subjects: some Sequence<Subject>) -> Int {
        subjects.compactMap { places[Claim(app: app, subject: $0)] }.min() ?? .max
    }

    private mutating func add(_ claim: Claim) {
        guard order.count < Self.maxClaims, places[claim] == nil else { return }
        places[claim] = order.count
        order.append(claim)
    }
}
