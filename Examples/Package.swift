// swift-tools-version: 6.3
import PackageDescription

/// The settings of the package that contains these examples.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Forbids unsafe constructs. For all targets that do not use a terminal or Foundation's streams.
let strict: [SwiftSetting] = settings + [.strictMemorySafety()]

let kit = Target.Dependency.product(name: "HandoffKit", package: "handoff")
let testing = Target.Dependency.product(name: "HandoffTesting", package: "handoff")

let package = Package(
    name: "handoff-examples",
    dependencies: [
        // The only dependency that an app needs.
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
