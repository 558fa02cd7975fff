package import HandoffControl
package import HandoffHandlers
package import HandoffJSON
import HandoffModel

/// What is installed here and continues something, as it crosses the socket (`FollowApps`). Plain values.
package struct InstalledApps: Sendable, Equatable {
    /// The most bytes of one list, so that it fits a message; an app that has no room is named among the problems.
    private static let maxBytes = VarlinkFramer.maxMessage * 3 / 4
    /// How many files that cannot be used are named.
    package static let maxProblems = 32

    /// The apps, and who is chosen; nobody is switched off in it. How an app is started does not cross the socket.
    package var registry: HandlerRegistry
    /// Files that cannot be used, each with what is wrong, at most `maxProblems`.
    package var problems: Set<String>

    /// - Parameter problems: beyond `maxProblems` they are left out.
    package init(registry: HandlerRegistry = HandlerRegistry(), problems: Set<String> = []) {
        self.registry = registry
        self.problems =
            problems.count <= Self.maxProblems ? problems : Set(problems.sorted().prefix(Self.maxProblems))
    }

    /// The fields of a reply.
    package var json: JSONObject {
        var problems = problems.map { String(decoding: $0.utf8.prefix(HandlerLimits.word), as: UTF8.self) }
        var bytes = 0
        var apps: [JSON] = []
        for handler in registry.handlers {
            let app = JSON.object(handler.json)
            bytes += app.encoded().count
            guard bytes <= Self.maxBytes else {
                problems.append("too many apps declare something: those from \(handler.id) on are left out")
                break
            }
            apps.append(app)
        }
        let choices = registry.defaults.choices.map { type, ids in
            JSON.object(["type": .string(type.text), "apps": .array(ids.map { .string($0.text) })])
        }
        return [
            "apps": .array(apps), "choices": .array(choices), "opensPages": .bool(registry.opensPages),
            "problems": .array(problems.sorted().map { .string($0) }),
        ]
    }

    /// Reads the fields of a reply; throws `invalidParameter`.
    package init(_ object: JSONObject) throws(VarlinkError) {
        let fields = Fields(object)
        var handlers: [Handler] = []
        for app in try fields.list("apps") { handlers.append(try Handler(app)) }
        var choices: [ActivityType: [AppID]] = [:]
        for choice in try fields.list("choices") {
            choices[try choice.type("type")] = try choice.texts("apps").compactMap { AppID($0) }
        }
        self.init(
            registry: HandlerRegistry(
                handlers: handlers, defaults: HandlerDefaults(choices: choices),
                opensPages: try fields.flag("opensPages")),
            problems: Set(try fields.texts("problems")))
    }
}

extension Handler {
    /// The fields of an `App`.
    fileprivate var json: JSONObject {
        [
            "id": .string(id.text), "name": .string(name),
            "types": .array(types.map(\.text).sorted().map { .string($0) }),
            "team": team.map { .string($0) } ?? .null, "domains": .array(domains.map { .string($0.description) }),
            "source": .string(source.rawValue), "file": .string(path), "installed": .integer(installed),
        ]
    }

    /// Reads the fields; throws `invalidParameter`.
    fileprivate init(_ fields: Fields) throws(VarlinkError) {
        guard let id = AppID(try fields.text("id")) else { throw fields.invalid("id") }
        guard let source = Source(rawValue: try fields.text("source")) else { throw fields.invalid("source") }
        self.init(
            id: id, name: try fields.text("name"),
            types: Set(try fields.texts("types").compactMap { ActivityType($0) }),
            team: try fields.optionalText("team"), domains: try fields.texts("domains").compactMap { DomainClaim($0) },
            launch: .elsewhere(source), path: try fields.text("file"), installed: Int64(try fields.integer("installed"))
        )
    }
}

/// Why an app was not started, or a page not opened: a fragment for people.
package struct StartFailure: Error, Sendable, Equatable {
    /// What is wrong, and what helps.
    package let message: String

    package init(message: String) {
        self.message = message
    }
}
