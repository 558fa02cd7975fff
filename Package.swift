// swift-tools-version: 6.3
import PackageDescription

/// Settings of every Swift target: Swift 6, every warning an error, imports internal unless said otherwise.
let base: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// The sanitizer of this build, `address` or `thread`, as scripts/test selects it.
let sanitizer = Context.environment["HANDOFF_SANITIZER"]

/// Targets that may have unsafe constructs, and their tests. Only these can contain a memory error, or a data race that the
/// compiler does not reject, so a sanitizer instruments only these.
let common: [SwiftSetting] = base + (sanitizer.map { [.unsafeFlags(["-sanitize=\($0)"])] } ?? [])

/// Targets that wrap no C library: unsafe constructs are compiler errors there, so a reader knows where C is. Their tests have
/// `base`.
let strict: [SwiftSetting] = base + [.strictMemorySafety()]

/// The same with some lines that are marked `unsafe`. None of these shares memory between threads (`scripts/test format`), so only
/// the address sanitizer instruments them.
let marked: [SwiftSetting] = (sanitizer == "address" ? common : base) + [.strictMemorySafety()]

/// Test files of code that uses one thread, which share a target with tests of threads. The build for the thread sanitizer omits
/// them. The one for the address sanitizer runs them.
func withoutThreads(_ files: [String]) -> [String] { sanitizer == "thread" ? files : [] }

let sanitizedC: [CSetting] = sanitizer.map { [.unsafeFlags(["-fsanitize=\($0)"])] } ?? []

let package = Package(
    name: "handoff",
    products: [
        .executable(name: "handoff-browser", targets: ["handoff-browser"]),
        .executable(name: "handoff-desktop", targets: ["handoff-desktop"]),
        .executable(name: "handoffctl", targets: ["handoffctl"]),
        .executable(name: "handoffd", targets: ["handoffd"]),
        .library(name: "HandoffGLib", targets: ["HandoffGLib"]),
        .library(name: "HandoffKit", targets: ["HandoffKit"]),
        .library(name: "HandoffTesting", targets: ["HandoffTesting"]),
        .plugin(name: "HandoffInfo", targets: ["HandoffInfo"]),
    ],
    targets: [
        // C libraries and system calls. Where a library is missing, the package manager names its package. Avahi's two are
        // loaded at run time, since no program can link both: they have no pkgConfig, which would link them.
        .systemLibrary(name: "CAvahi", providers: [.apt(["libavahi-client-dev"])]),
        .systemLibrary(name: "CAvahiCore", providers: [.apt(["libavahi-core-dev"])]),
        .systemLibrary(name: "CIntl", providers: [.apt(["libc6-dev"])]),
        .systemLibrary(name: "CNettle", pkgConfig: "nettle", providers: [.apt(["nettle-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CSystemdBus", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .target(
            name: "CAvahiClock",
            cSettings: [.define("_GNU_SOURCE")] + sanitizedC),
        .target(
            name: "CLinux",
            cSettings: [.define("_GNU_SOURCE")] + sanitizedC,
            // Every program and every test has this target in it, and so the sanitizer's runtime.
            linkerSettings: sanitizer.map { [.unsafeFlags(["-sanitize=\($0)"])] } ?? []),
        // GLib is loaded at run time, so no build needs its headers.
        .target(name: "CMainQueue"),
        .target(
            name: "COpenSSLProvider", dependencies: ["COpenSSL"],
            cSettings: sanitizedC),

        // Values and protocols, without I/O.
        .target(
            name: "HandoffControl", dependencies: ["HandoffJSON", "HandoffModel"],
            swiftSettings: strict, plugins: ["EmbeddedText"]),
        .target(
            name: "HandoffHandlers", dependencies: ["HandoffControl", "HandoffJSON", "HandoffModel"],
            swiftSettings: strict),
        .target(
            name: "HandoffDocuments", dependencies: ["HandoffJSON", "HandoffModel", "LoopIO"], swiftSettings: common),
        .target(name: "HandoffJSON", swiftSettings: common),
        .target(name: "HandoffModel", dependencies: ["HandoffJSON"], swiftSettings: strict),
        .target(
            name: "HandoffProtocol", dependencies: ["HandoffJSON", "HandoffModel"], swiftSettings: strict),

        // Cryptography and trust.
        .target(
            name: "HandoffAccount", dependencies: ["HandoffCrypto", "HandoffModel", "HandoffProtocol"],
            swiftSettings: marked),
        .target(name: "HandoffCrypto", dependencies: ["COpenSSL", "COpenSSLProvider"], swiftSettings: common),
        .target(
            name: "HandoffPairing",
            dependencies: ["HandoffAccount", "HandoffCrypto", "HandoffModel", "HandoffProtocol"],
            swiftSettings: strict),

        // The edges: loop, log, discovery, the desktop.
        .target(
            name: "DesktopBus", dependencies: ["CIntl", "CSystemdBus", "HandoffHandlers", "HandoffModel", "LoopIO"],
            swiftSettings: common),
        .target(
            name: "HandoffDiscovery",
            dependencies: ["CAvahi", "CLinux", "HandoffModel", "LoopIO"],
            swiftSettings: common),
        .target(
            name: "HandoffEmbeddedDiscovery",
            dependencies: ["CAvahiCore", "HandoffDiscovery", "HandoffModel", "LoopIO"],
            swiftSettings: common),
        .target(
            name: "HandoffStreams", dependencies: ["HandoffCrypto", "HandoffModel", "LoopIO"], swiftSettings: common),
        .target(name: "LoopIO", dependencies: ["CLinux", "CSystemd", "HandoffModel"], swiftSettings: common),

        // Programs and the libraries that they are made of.
        .target(
            name: "HandoffBrowser",
            dependencies: [
                "HandoffClient", "HandoffControl", "HandoffHandlers", "HandoffJSON", "HandoffModel", "LoopIO", "QRText",
            ], swiftSettings: strict),
        .target(
            name: "HandoffClient", dependencies: ["HandoffControl", "HandoffJSON", "HandoffModel", "LoopIO"],
            swiftSettings: strict),
        .target(
            name: "HandoffCommands",
            dependencies: [
                "HandoffClient", "HandoffControl", "HandoffDocuments", "HandoffHandlers", "HandoffJSON", "HandoffModel",
                "HandoffTransfer", "LoopIO", "QRText",
            ], swiftSettings: strict),
        .target(
            name: "HandoffDaemon",
            dependencies: [
                "HandoffAccount", "HandoffClient", "HandoffControl", "HandoffCrypto", "HandoffDiscovery",
                "HandoffDocuments", "HandoffHandlers", "HandoffJSON", "HandoffModel", "HandoffPairing", "HandoffPeers",
                "HandoffProtocol", "HandoffState", "HandoffStreams", "HandoffTransport", "LoopIO",
            ], swiftSettings: marked),
        .target(
            name: "HandoffDesktopService",
            dependencies: [
                "DesktopBus", "HandoffControl", "HandoffDocuments", "HandoffHandlers", "HandoffJSON", "HandoffModel",
                "LoopIO",
            ], swiftSettings: strict),
        .target(name: "HandoffGLib", dependencies: ["CMainQueue"], swiftSettings: strict),
        .target(
            name: "HandoffKit",
            dependencies: [
                "HandoffClient", "HandoffControl", "HandoffDocuments", "HandoffJSON", "HandoffModel", "HandoffTransfer",
                "LoopIO",
            ], swiftSettings: common),
        .target(
            name: "HandoffPeers",
            dependencies: [
                "HandoffAccount", "HandoffCrypto", "HandoffDiscovery", "HandoffJSON", "HandoffModel", "HandoffProtocol",
                "HandoffState", "HandoffStreams", "HandoffTransport", "LoopIO",
            ], swiftSettings: strict),
        .target(
            name: "HandoffState",
            dependencies: [
                "HandoffAccount", "HandoffControl", "HandoffCrypto", "HandoffHandlers", "HandoffModel",
                "HandoffProtocol", "LoopIO",
            ], swiftSettings: marked),
        .target(
            name: "HandoffTesting",
            dependencies: ["HandoffControl", "HandoffJSON", "HandoffKit", "HandoffModel", "LoopIO"],
            swiftSettings: common),
        .target(
            name: "HandoffTransfer",
            dependencies: [
                "CLinux", "CNettle", "HandoffClient", "HandoffControl", "HandoffJSON", "HandoffModel", "LoopIO",
            ],
            swiftSettings: common),
        .target(
            name: "HandoffTransport",
            dependencies: [
                "HandoffAccount", "HandoffCrypto", "HandoffModel", "HandoffProtocol", "HandoffStreams", "LoopIO",
            ], swiftSettings: strict),
        .plugin(name: "EmbeddedText", capability: .buildTool()),
        .plugin(name: "HandoffInfo", capability: .buildTool(), dependencies: ["handoff-info"]),
        .executableTarget(name: "handoff-info", swiftSettings: base),
        .executableTarget(
            name: "handoff-browser", dependencies: ["HandoffBrowser", "LoopIO"], swiftSettings: strict),
        .executableTarget(
            name: "handoff-desktop", dependencies: ["HandoffDesktopService", "LoopIO"], swiftSettings: strict),
        .executableTarget(
            name: "handoffctl", dependencies: ["HandoffCommands", "LoopIO"], swiftSettings: strict),
        .executableTarget(
            name: "handoffd",
            dependencies: ["CAvahiClock", "HandoffDaemon", "HandoffDiscovery", "HandoffEmbeddedDiscovery", "LoopIO"],
            swiftSettings: strict),
        .target(name: "QRText", dependencies: ["CQREncode"], swiftSettings: common),

        // Tests, beside the target that they test.
        .testTarget(
            name: "HandoffAccountTests",
            dependencies: ["HandoffAccount", "HandoffCrypto", "HandoffModel", "HandoffProtocol"],
            swiftSettings: base),
        .testTarget(
            name: "HandoffBrowserTests",
            dependencies: [
                "HandoffBrowser", "HandoffControl", "HandoffJSON", "HandoffModel", "HandoffTestSupport", "LoopIO",
            ], swiftSettings: base),
        .testTarget(
            name: "HandoffClientTests",
            dependencies: [
                "HandoffClient", "HandoffControl", "HandoffJSON", "HandoffModel", "HandoffTestSupport", "LoopIO",
            ], swiftSettings: base),
        .testTarget(
            name: "HandoffCommandsTests",
            dependencies: [
                "HandoffClient", "HandoffCommands", "HandoffControl", "HandoffDocuments", "HandoffJSON", "HandoffModel",
                "HandoffTestSupport", "HandoffTransfer", "LoopIO",
            ], swiftSettings: base),
        .testTarget(
            name: "HandoffControlTests",
            dependencies: ["HandoffControl", "HandoffJSON", "HandoffModel", "HandoffTestSupport"],
            swiftSettings: base),
        .testTarget(name: "HandoffCryptoTests", dependencies: ["COpenSSL", "HandoffCrypto"], swiftSettings: common),
        .testTarget(
            name: "HandoffDaemonTests",
            dependencies: [
                "HandoffAccount", "HandoffControl", "HandoffCrypto", "HandoffDaemon", "HandoffDesktopService",
                "HandoffDiscovery", "HandoffHandlers", "HandoffJSON", "HandoffModel", "HandoffPairing",
                "HandoffPeers", "HandoffProtocol", "HandoffState", "HandoffTestSupport", "HandoffTransport", "LoopIO",
            ], swiftSettings: base),
        .testTarget(
            name: "HandoffPeersTests",
            dependencies: [
                "HandoffAccount", "HandoffCrypto", "HandoffDiscovery", "HandoffJSON", "HandoffModel", "HandoffPeers",
                "HandoffProtocol", "HandoffState", "HandoffStreams", "HandoffTestSupport", "HandoffTransport", "LoopIO",
            ],
            swiftSettings: base),
        .testTarget(
            name: "HandoffStateTests",
            dependencies: [
                "HandoffAccount", "HandoffControl", "HandoffCrypto", "HandoffModel", "HandoffState",
                "HandoffTestSupport", "LoopIO",
            ],
            swiftSettings: base),
        .testTarget(
            name: "HandoffTransportTests",
            dependencies: [
                "HandoffAccount", "HandoffCrypto", "HandoffModel", "HandoffProtocol", "HandoffTestSupport",
                "HandoffTransport", "LoopIO",
            ],
            swiftSettings: base),
        .testTarget(
            name: "HandoffDesktopServiceTests",
            dependencies: [
                "DesktopBus", "HandoffClient", "HandoffControl", "HandoffDesktopService", "HandoffHandlers",
                "HandoffJSON", "HandoffModel", "HandoffTestSupport", "LoopIO",
            ], swiftSettings: base),
        .testTarget(
            name: "HandoffDiscoveryTests",
            dependencies: [
                "CLinux", "HandoffDiscovery", "HandoffEmbeddedDiscovery", "HandoffModel", "HandoffTestSupport",
                "LoopIO",
            ],
            exclude: withoutThreads([
                "AutomaticChoiceTests.swift", "DirectoryBench.swift", "DomainNameTests.swift",
                "InterfaceTableTests.swift", "MergedServicesTests.swift", "NetlinkDecoderTests.swift",
                "NetworkPresenceTests.swift", "PacketGateTests.swift", "PlayedPacket.swift",
                "PresentNetworksTests.swift", "PublicationPlanTests.swift", "RecordDataTests.swift",
                "ServiceDirectoryCrowdTests.swift", "ServiceDirectoryHearingTests.swift",
                "ServiceDirectoryLossTests.swift", "ServiceDirectoryTests.swift",
            ]), swiftSettings: common),
        .testTarget(
            name: "HandoffHandlersTests", dependencies: ["HandoffHandlers", "HandoffModel"], swiftSettings: base),
        .testTarget(
            name: "HandoffDocumentsTests",
            dependencies: ["HandoffDocuments", "HandoffJSON", "HandoffModel", "HandoffTestSupport", "LoopIO"],
            swiftSettings: common),
        // An independent parser to compare with, for the tests only.
        .systemLibrary(
            name: "CJansson", path: "Tests/CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
        .testTarget(name: "HandoffJSONTests", dependencies: ["CJansson", "HandoffJSON"], swiftSettings: common),
        .testTarget(
            name: "HandoffKitTests",
            dependencies: [
                "HandoffControl", "HandoffJSON", "HandoffKit", "HandoffModel", "HandoffTestSupport", "HandoffTesting",
                "HandoffTransfer", "LoopIO",
            ],
            exclude: withoutThreads(["UserInfoTests.swift"]),
            // Streams and the values of userInfo are all that HandoffKit has unsafe constructs for. The rest is what these need.
            sources: sanitizer == "address"
                ? [
                    "CarriedActivity.swift", "ContinuingTests.swift", "KitTest.swift", "StreamTests.swift",
                    "UserInfoTests.swift",
                ] : nil,
            swiftSettings: common),
        .testTarget(name: "HandoffModelTests", dependencies: ["HandoffJSON", "HandoffModel"], swiftSettings: base),
        .testTarget(
            name: "HandoffPairingTests",
            dependencies: ["HandoffAccount", "HandoffCrypto", "HandoffModel", "HandoffPairing", "HandoffProtocol"],
            swiftSettings: base),
        .testTarget(
            name: "HandoffProtocolTests", dependencies: ["HandoffJSON", "HandoffModel", "HandoffProtocol"],
            swiftSettings: base),
        .testTarget(
            name: "HandoffStreamsTests",
            dependencies: [
                "CLinux", "HandoffCrypto", "HandoffModel", "HandoffStreams", "HandoffTestSupport", "LoopIO",
            ],
            swiftSettings: common),
        // An app for the system tests; no product.
        .executableTarget(
            name: "KitProgram", dependencies: ["HandoffKit"], path: "Tests/KitProgram", swiftSettings: common),
        // A GTK 4 app for a system test; no product.
        .target(name: "CGTKWindow", path: "Tests/CGTKWindow"),
        .executableTarget(
            name: "GTKProgram", dependencies: ["CGTKWindow", "HandoffGLib", "HandoffKit"], path: "Tests/GTKProgram",
            swiftSettings: common),
        // The last step of the tutorial, as a reader of it ends up with.
        .executableTarget(
            name: "KitTutorial", dependencies: ["HandoffKit"], path: "Sources/HandoffKit/HandoffKit.docc/Resources",
            exclude: ["reader-1.swift", "reader-2.swift", "reader-3.swift", "reader-4.swift", "reader-package.swift"],
            sources: ["reader-5.swift"], swiftSettings: common),
        .target(
            name: "HandoffTestSupport",
            dependencies: [
                "CSystemd", "HandoffControl", "HandoffDiscovery", "HandoffJSON", "HandoffModel", "HandoffTransfer",
                "LoopIO",
            ],
            path: "Tests/HandoffTestSupport", swiftSettings: common),
        .testTarget(
            name: "HandoffTestingTests", dependencies: ["HandoffKit", "HandoffTesting"], swiftSettings: common),
        .testTarget(
            name: "HandoffTransferTests",
            dependencies: ["HandoffJSON", "HandoffModel", "HandoffTestSupport", "HandoffTransfer", "LoopIO"],
            exclude: withoutThreads([
                "ConfinementTests.swift", "FileTests.swift", "FolderTests.swift", "HostileArchiveTests.swift",
                "HostilePeerTests.swift", "LeftoversTests.swift", "MachineTests.swift", "RepositoryTests.swift",
                "SourceTests.swift",
            ]), swiftSettings: common),
        .testTarget(
            name: "LoopIOTests", dependencies: ["CLinux", "HandoffModel", "HandoffTestSupport", "LoopIO"],
            exclude: withoutThreads([
                "AddressTests.swift", "BoundPortTests.swift", "FreeMemoryTests.swift", "NewFileTests.swift",
                "SystemTextTests.swift", "TimerQueueTests.swift", "ValueTests.swift", "WriteQueueTests.swift",
            ]), swiftSettings: common),
        .testTarget(name: "QRTextTests", dependencies: ["CQREncode", "QRText"], swiftSettings: common),
    ]
)

// The fuzzers, built by Fuzz/run alone: they need flags that no other build should carry. Then there is nothing else in the
// package, so that one `swift build` builds all of them and no more.
if Context.environment["HANDOFF_FUZZ"] != nil {
    // With the libraries of the address sanitizer's tests, only the fuzzer itself measures coverage.
    let both = sanitizer == nil ? [] : ["-sanitize=fuzzer,address"]
    let support: [Target.Dependency] = sanitizer == nil ? ["FuzzSupport"] : ["FuzzMain", "FuzzSupport"]
    let fuzz: [SwiftSetting] = base + [.unsafeFlags(["-parse-as-library"] + both)]
    let fuzzers: [(name: String, dependencies: [String])] = [
        (
            "Announcement",
            ["HandoffAccount", "HandoffCrypto", "HandoffDiscovery", "HandoffModel", "HandoffProtocol", "LoopIO"]
        ),
        ("Browser", ["HandoffBrowser", "HandoffHandlers", "HandoffJSON", "HandoffModel"]),
        ("Bus", ["DesktopBus", "HandoffControl", "HandoffHandlers", "HandoffJSON", "HandoffModel", "LoopIO"]),
        ("Configuration", ["HandoffDaemon"]),
        ("Control", ["HandoffControl", "HandoffHandlers", "HandoffJSON", "HandoffModel"]),
        ("Discovery", ["HandoffDiscovery", "LoopIO"]),
        ("Documents", ["HandoffDocuments"]),
        ("Files", ["HandoffAccount", "HandoffCrypto"]),
        ("Frame", ["HandoffAccount", "HandoffModel", "HandoffProtocol"]),
        ("Gate", ["HandoffAccount", "HandoffModel", "HandoffTransport", "LoopIO"]),
        ("Handlers", ["HandoffHandlers", "HandoffModel"]),
        ("JSON", ["HandoffJSON", "HandoffModel", "JanssonOracle"]),
        (
            "Kept",
            ["HandoffAccount", "HandoffCrypto", "HandoffJSON", "HandoffModel", "HandoffPeers", "HandoffProtocol"]
        ),
        ("Pairing", ["HandoffAccount", "HandoffCrypto", "HandoffPairing"]),
        ("Replies", ["HandoffControl", "HandoffJSON", "HandoffModel"]),
        ("Roster", ["HandoffAccount", "HandoffCrypto", "HandoffModel"]),
        ("Sessions", ["HandoffDaemon", "HandoffHandlers", "HandoffModel", "HandoffProtocol"]),
        (
            "State",
            ["HandoffControl", "HandoffDaemon", "HandoffJSON", "HandoffModel", "HandoffState", "LoopIO"]
        ),
        ("Stream", ["HandoffControl", "HandoffJSON", "HandoffStreams"]),
        ("Transfer", ["HandoffTransfer"]),
    ]
    // A target only here, so that no build of the programs needs Jansson.
    package.targets.append(
        .target(
            name: "JanssonOracle", dependencies: ["CJansson", "HandoffJSON"], path: "Tests/HandoffJSONTests",
            sources: ["JanssonOracle.swift"], swiftSettings: fuzz))
    var needed: Set<String> = []
    var names = fuzzers.flatMap(\.dependencies) + ["EmbeddedText"]
    while let name = names.popLast() {
        guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else {
            continue
        }
        for case .byNameItem(let dependency, _) in target.dependencies { names.append(dependency) }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products = fuzzers.map { .executable(name: "Fuzz\($0.name)", targets: ["Fuzz\($0.name)"]) }
    package.targets += [
        .target(name: "FuzzMain", path: "Fuzz/Sources/FuzzMain"),
        .target(name: "FuzzSupport", path: "Fuzz/Sources/FuzzSupport", swiftSettings: fuzz),
    ]
    package.targets += fuzzers.map { fuzzer in
        .executableTarget(
            name: "Fuzz\(fuzzer.name)",
            dependencies: support + fuzzer.dependencies.map { .init(stringLiteral: $0) },
            path: "Fuzz/Sources/Fuzz\(fuzzer.name)", swiftSettings: fuzz,
            linkerSettings: both.isEmpty ? [] : [.unsafeFlags(both)])
    }
}

// Builds for a sanitizer leave out the tests and programs that they do not run.
if let names = Context.environment["HANDOFF_WITHOUT"]?.split(whereSeparator: \.isWhitespace) {
    package.targets.removeAll { names.contains(Substring($0.name)) }
    package.products.removeAll { names.contains(Substring($0.name)) }
}
