import Foundation

/// A folder for the files of a test, removed with everything in it.
final class TestTree {
    /// The path, with links resolved.
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hd-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.resolvingSymlinksInPath().path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Writes a file and creates its parent folders.
    @discardableResult
    func file(_ name: String, _ text: String = "x") throws -> String {
        let place = "\(path)/\(name)"
        try folder((name as NSString).deletingLastPathComponent)
        try Data(text.utf8).write(to: URL(fileURLWithPath: place))
        return place
    }

    @discardableResult
    func folder(_ name: String) throws -> String {
        let place = name.isEmpty ? path : "\(path)/\(name)"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        return place
    }

    func link(_ name: String, to target: String) throws {
        try folder((name as NSString).deletingLastPathComponent)
        try FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: target)
    }

    /// Creates a checkout of a repository.
    func checkout(_ name: String, _ remote: String) throws {
        try file("\(name)/.git/config", "[remote \"origin\"]\n\turl = \(remote)\n")
    }

    /// The URL of a file in it, as written by Foundation.
    func url(_ name: String) -> String { URL(fileURLWithPath: "\(path)/\(name)", isDirectory: false).absoluteString }
}
