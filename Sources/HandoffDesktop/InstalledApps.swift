package import HandoffControl
package import HandoffHandlers
package import HandoffJSON
import HandoffModel

/// What is installed here and continues something, as it crosses the socket (`FollowApps`). Plain values.
package struct InstalledApps: ControlMessage {
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
            let app = JSON.object(DeclaredApp(handler).json)
            bytes += app.encodedCount
            guard bytes <= Self.maxBytes else {
                problems.append("too many apps declare something: those from \(handler.id) on are left out")
                break
            }
            apps.append(app)
        }
        let choices = registry.defaults.choices.map { type, ids in
            JSON.object(DeclaredChoice(type: type, apps: ids.map(\.text)).json)
        }
        return [
            "apps": .array(apps), "choices": .array(choices), "opensPages": .bool(registry.opensPages),
            "problems": .array(problems.sorted().map { .string($0) }),
        ]
    }

    /// Reads the fields of a reply; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        let handlers = try fields.value("apps", as: [DeclaredApp].self).map(\.handler)
        var choices: [ActivityType: [AppID]] = [:]
        for choice in try fields.value("choices", as: [DeclaredChoice].self) {
            choices[choice.type] = choice.apps.compactMap { AppID($0) }
        }
        self.init(
            registry: HandlerRegistry(
                handlers: handlers, defaults: HandlerDefaults(choices: choices),
                opensPages: try fields.flag("opensPages")),
            problems: try fields.value("problems"))
    }
}

/// `App`: what a file declares.
private struct DeclaredApp: ControlValue {
    var id: AppID
    var name: String
    var types: [String]
    var versions: [TypeVersions]?
    var team: String?
    var domains: [String]
    var source: Handler.Source
    var icon: String?
    var file: String
    var installed: Int64

    init(_ handler: Handler) {
        id = handler.id
        name = handler.name
        types = handler.types.map(\.text).sorted()
        versions = TypeVersions.list(handler.versions)
        team = handler.team
        domains = handler.domains.map(\.description)
        source = handler.source
        icon = handler.icon
        file = handler.path
        installed = handler.installed
    }

    /// The app, without what cannot be read of its types and sites.
    var handler: Handler {
        Handler(
            id: id, name: name, types: Set(types.compactMap { ActivityType($0) }),
            versions: TypeVersions.ranges(versions), team: team,
            domains: domains.compactMap { DomainClaim($0) }, launch: .elsewhere(source), icon: icon,
            path: file, installed: installed)
    }
}

/// `Choice`: the apps that the user wants for a type, best first.
private struct DeclaredChoice: ControlValue {
    var type: ActivityType
    var apps: [String]
}

/// Why an app was not started, or a page not opened: a fragment for people.
package struct StartFailure: Error, Sendable, Equatable {
    /// What is wrong, and what helps.
    package let message: String

    package init(message: String) {
        self.message = message
    }
}
