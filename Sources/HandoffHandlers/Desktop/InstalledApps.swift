package import HandoffControl
package import HandoffJSON
import HandoffModel

/// The installed apps that continue something, as sent over the socket (`FollowApps`). Plain
/// values.
package struct InstalledApps: ControlMessage {
    /// The maximum size of the list of apps in bytes, so that it fits in a message. A problem
    /// reports apps that do not fit.
    private static let maxBytes = VarlinkFramer.maxMessage * 3 / 4
    /// The maximum number of unusable files to report.
    package static let maxProblems = 32

    /// The apps and the user's choices. No app is disabled in it. Start commands are not sent over
    /// the socket.
    package var registry: HandlerRegistry
    /// Unusable files, each with its error; at most `maxProblems`.
    package var problems: Set<String>

    /// - Parameter problems: Entries beyond `maxProblems` are dropped.
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
                problems.append("too many apps: \(handler.id) and those after it are left out")
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
        let handlers = try fields.value("apps", as: [DeclaredApp].self).compactMap(\.handler)
        var choices: [ActivityType: [AppID]] = [:]
        for choice in try fields.value("choices", as: [DeclaredChoice].self) {
            choices[choice.type] = choice.apps.compactMap { AppID($0) }
        }
        self.init(
            registry: HandlerRegistry(
                handlers: handlers, defaults: HandlerDefaults(choices: choices),
                opensPages: try fields.value("opensPages")),
            problems: try fields.value("problems"))
    }
}

/// `App`: the declarations of a file.
private struct DeclaredApp: ControlValue {
    var id: AppID
    var name: String
    var types: [String]
    var versions: [TypeVersions]?
    var team: String?
    var domains: [String]
    var source: ReplyWord<Handler.Source>
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
        source = ReplyWord(handler.source)
        icon = handler.icon
        file = handler.path
        installed = handler.installed
    }

    /// The app, without invalid types and sites. Nil if another version of `handoff-desktop` has
    /// found it in an unknown kind of file.
    var handler: Handler? {
        guard let source = source.known else { return nil }
        return Handler(
            id: id, name: name, types: Set(types.compactMap { ActivityType($0) }),
            versions: TypeVersions.ranges(versions), team: team,
            domains: domains.compactMap { DomainClaim($0) }, launch: .elsewhere(source), icon: icon,
            path: file, installed: installed)
    }
}

/// `Choice`: the apps that the user chose for a type, in order of preference.
private struct DeclaredChoice: ControlValue {
    var type: ActivityType
    var apps: [String]
}

/// The reason why an app or page was not opened: a sentence fragment for display.
package struct StartFailure: Error, Sendable, Equatable {
    /// The error and what to do about it.
    package let message: String

    package init(message: String) {
        self.message = message
    }
}
