// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Reader",
    dependencies: [.package(path: "../handoff")],
    targets: [
        .executableTarget(name: "Reader", dependencies: [.product(name: "HandoffKit", package: "handoff")])
    ]
)
