// swift-tools-version: 6.3
import PackageDescription

/// The settings of the package that this one is an example of.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Without unsafe constructs: all but what speaks to a terminal or to streams of Foundation.
let strict: [SwiftSetting] = settings + [.strictMemorySafety()]

let kit = Target.Dependency.product(name: "HandoffKit", package: "handoff")
let testing = Target.Dependency.product(name: "HandoffTesting", package: "handoff")

let package = Package(
    name: "handoff-examples",
    dependencies: [
        // All that an app needs.
        .package(name: "handoff", path: "..")
    ],
    targets: [
        .target(name: "ExampleSupport", dependencies: [kit], swiftSettings: settings),
        .executableTarget(name: "ForumReader", dependencies: [kit, "ExampleSupport"], swiftSettings: strict),
        .executableTarget(name: "MapOff", dependencies: [kit, "ExampleSupport"], swiftSettings: strict),
        .executableTarget(
            name: "MapViewer", dependencies: [kit, "ExampleSupport"], exclude: ["Info.plist"],
            swiftSettings: strict, plugins: [.plugin(name: "HandoffInfo", package: "handoff")]),
        .executableTarget(name: "Shapes", dependencies: [kit, "ExampleSupport"], swiftSettings: settings),
        .testTarget(
            name: "ExampleTests",
            dependencies: [kit, testing, "ExampleSupport", "ForumReader", "MapOff", "MapViewer", "Shapes"],
            swiftSettings: settings),
    ]
)
