public import Foundation
import HandoffControl
import HandoffModel

/// Who an app is, and what it can continue.
public struct HandoffConfiguration: Sendable, Equatable {
    /// What the app calls itself, at most 255 bytes: `CFBundleIdentifier`, or the name of the program.
    public var identifier: String
    /// Its version, at most 255 bytes: `CFBundleShortVersionString`.
    public var version: String?
    /// Its team, at most 255 bytes: `HandoffTeamID`. Activities are handed off between apps of one team only.
    public var teamIdentifier: String?
    /// The types of activities that it continues: `NSUserActivityTypes`. What it publishes need not be declared.
    public var activityTypes: [String]
    /// The daemon's socket; nil for `$HANDOFF_SOCKET`, or the user's.
    public var socketPath: String?
    /// The folders that other devices have, too; nil for those that the user has set in `documents.conf`
    /// (`HandoffSharedRoot.configured()`).
    public var sharedRoots: [HandoffSharedRoot]?
    /// Where documents of other devices are kept while they are accessed; nil for the user's cache folder. For tests.
    package var documentCache: String?

    /// An app with these properties.
    public init(
        identifier: String, version: String? = nil, teamIdentifier: String? = nil, activityTypes: [String] = [],
        socketPath: String? = nil
    ) {
        self.identifier = identifier
        self.version = version
        self.teamIdentifier = teamIdentifier
        self.activityTypes = activityTypes
        self.socketPath = socketPath
    }

    /// What a bundle's Info.plist says. That of `Bundle.main` is `PROGRAM.resources/Info.plist` beside the program, and where there
    /// is none, `Info.plist` beside it.
    public init(bundle: Bundle) {
        // Foundation takes the folder of the program for its bundle, which several programs may share.
        let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let own = bundle === Bundle.main ? program.flatMap(Self.infoDictionary(ofProgram:)) : nil
        self.init(infoDictionary: own ?? bundle.infoDictionary ?? [:])
    }

    /// What `PROGRAM.resources/Info.plist` beside a program says.
    /// - Returns: nil where there is none, or it cannot be read.
    package static func infoDictionary(ofProgram path: String) -> [String: Any]? {
        guard let data = FileManager.default.contents(atPath: path + ".resources/Info.plist") else { return nil }
        return (try? PropertyListSerialization.propertyList(from: data, format: nil)) as? [String: Any]
    }

    /// What an Info.plist says; values of other types than they should have are absent.
    init(infoDictionary: [String: Any]) {
        let name = infoDictionary["CFBundleIdentifier"] as? String ?? ProcessInfo.processInfo.processName
        self.init(
            identifier: name.isEmpty ? "app" : name, version: infoDictionary["CFBundleShortVersionString"] as? String,
            teamIdentifier: infoDictionary["HandoffTeamID"] as? String,
            activityTypes: infoDictionary["NSUserActivityTypes"] as? [String] ?? [])
    }

    /// What the daemon is told; types that cannot be any are left out.
    func request(alsoFor types: some Sequence<String>) -> AttachRequest {
        var all: [ActivityType] = []
        for type in (activityTypes + types).compactMap(ActivityType.init) where !all.contains(type) { all.append(type) }
        return AttachRequest(app: identifier, version: version, team: teamIdentifier, types: all)
    }
}
