public import Foundation
import HandoffControl
import HandoffModel

/// Who an app is, and what it can continue.
public struct HandoffConfiguration: Sendable, Equatable {
    /// What the app calls itself: `CFBundleIdentifier`, or the name of the program. 1 to 255 visible ASCII characters without
    /// `/ \ " ' \` $ % = ;`, beginning with a letter, a digit or `_`, as the name of a desktop entry; else it is refused with
    /// the reason `InvalidApp`.
    public var identifier: String
    /// Its version, at most 255 bytes: `CFBundleShortVersionString`.
    public var version: String?
    /// Its team, at most 255 bytes: `HandoffTeamID`. Activities are handed off between apps of one team only.
    public var teamIdentifier: String?
    /// The types of activities that it continues: `NSUserActivityTypes`. What it publishes need not be declared.
    public var activityTypes: [String]
    /// From which versions of the app on the other device it continues activities of a type, by type: `HandoffActivityVersions`. Those of a
    /// type that is not named are taken from any version.
    public var versions: [String: HandoffVersionRange] = [:]
    /// The daemon's socket; nil for `$HANDOFF_SOCKET`, or the user's.
    public var socketPath: String?
    /// The folders that other devices have, too; nil for those that the user has set in `documents.conf`
    /// (`HandoffSharedRoot.configured()`).
    public var sharedRoots: [HandoffSharedRoot]?
    /// Where documents of other devices are kept while they are accessed; nil for the user's cache folder. For tests.
    package var documentCache: String?
    /// How long places for the documents of an activity that arrived are looked for: a file system may hang. For tests.
    package var documentTimeout: Duration = .seconds(2)
    /// The time after which a main queue that runs nothing is reported. For tests.
    package var mainQueueTimeout: Duration = .seconds(5)

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

    /// What a bundle's Info.plist says. That of `Bundle.main` is beside the program: `PROGRAM.resources/Info.plist`, or what the plugin
    /// `HandoffInfo` has made (`PACKAGE_PROGRAM.resources/Handoff-Info.plist`), or `Info.plist`.
    public init(bundle: Bundle) {
        // Foundation takes the folder of the program for its bundle, which several programs may share.
        let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let own = bundle === Bundle.main ? program.flatMap(Self.infoDictionary(ofProgram:)) : nil
        self.init(infoDictionary: own ?? bundle.infoDictionary ?? [:])
    }

    /// What the Info.plist in a folder of resources beside a program says.
    /// - Returns: nil where there is none, or it cannot be read.
    package static func infoDictionary(ofProgram path: String) -> [String: Any]? {
        let own = FileManager.default.contents(atPath: path + ".resources/Info.plist")
        guard let data = own ?? generatedInfo(ofProgram: path) else { return nil }
        return (try? PropertyListSerialization.propertyList(from: data, format: nil)) as? [String: Any]
    }

    /// What the plugin `HandoffInfo` has made; the package manager puts the name of the package before that of the program.
    private static func generatedInfo(ofProgram path: String) -> Data? {
        let files = FileManager.default
        let (folder, name) = ((path as NSString).deletingLastPathComponent, (path as NSString).lastPathComponent)
        let beside = (try? files.contentsOfDirectory(atPath: folder)) ?? []
        for place in beside.sorted() where place.hasSuffix("_\(name).resources") {
            if let data = files.contents(atPath: "\(folder)/\(place)/Handoff-Info.plist") { return data }
        }
        return nil
    }

    /// What an Info.plist says; values of other types than they should have are absent.
    init(infoDictionary: [String: Any]) {
        let name =
            infoDictionary["CFBundleIdentifier"] as? String
            ?? Self.identifier(ofProgram: ProcessInfo.processInfo.processName)
        self.init(
            identifier: name.isEmpty ? "app" : name, version: infoDictionary["CFBundleShortVersionString"] as? String,
            teamIdentifier: infoDictionary["HandoffTeamID"] as? String,
            activityTypes: infoDictionary["NSUserActivityTypes"] as? [String] ?? [])
        for (type, ends) in infoDictionary["HandoffActivityVersions"] as? [String: [String: String]] ?? [:] {
            versions[type] = HandoffVersionRange(minimum: ends["minimumVersion"], maximum: ends["maximumVersion"])
        }
    }

    /// An identifier made of a program's name, which may be any: what no identifier has becomes `_`.
    package static func identifier(ofProgram name: String) -> String {
        let plain = name.utf8.prefix(254).map { isPlain($0) ? $0 : UInt8(ascii: "_") }
        let isBegun = plain.first.map { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "-") } ?? true
        return (isBegun ? "" : "_") + String(decoding: plain, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// What the daemon is told; types and versions that cannot be any are left out.
    func request(alsoFor types: some Sequence<String>) -> AttachRequest {
        var all: [ActivityType] = []
        for type in (activityTypes + types).compactMap(ActivityType.init) where !all.contains(type) { all.append(type) }
        var ranges: [ActivityType: VersionRange] = [:]
        for (type, range) in versions {
            if let type = ActivityType(type) { ranges[type] = range.range }
        }
        return AttachRequest(
            app: identifier, version: version, team: teamIdentifier, types: all,
            versions: ranges.isEmpty ? nil : TypeVersions.list(ranges))
    }
}

/// From which versions of the app on the other device an app continues an activity. Of what another version offers nothing travels: it
/// fails with error 4608 and the reason `otherVersion` here, and the log of continuations there has it.
public struct HandoffVersionRange: Sendable, Equatable {
    /// The first version: up to 8 numbers with dots between them, such as 2.10. Nil: from any on.
    public var minimum: String?
    /// The last version. Of it only as many numbers count as there are: 2 includes 2.9. Nil: up to any.
    public var maximum: String?

    /// A range with these ends.
    public init(minimum: String? = nil, maximum: String? = nil) {
        self.minimum = minimum
        self.maximum = maximum
    }

    var range: VersionRange {
        VersionRange(minimum: minimum.flatMap { AppVersion($0) }, maximum: maximum.flatMap { AppVersion($0) })
    }
}
