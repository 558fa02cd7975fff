import Foundation
import HandoffKit

/// Folders with the documents of a test, removed with everything in them.
final class DocumentPlace: Sendable {
    /// Their path, without links.
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.resolvingSymlinksInPath().path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The URL of something in it.
    func url(_ name: String) -> URL { URL(fileURLWithPath: "\(path)/\(name)") }

    /// Writes a file, with the folders on the way to it.
    @discardableResult
    func write(_ text: String, to name: String) throws -> URL {
        let place = url(name)
        try FileManager.default.createDirectory(
            at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: place)
        return place
    }

    /// An app with these roots, whose cache is here.
    func application(
        _ kit: KitTest, types: [String] = [], roots: [HandoffSharedRoot] = []
    ) -> HandoffApplication {
        var configuration = HandoffConfiguration(identifier: "app", activityTypes: types, socketPath: kit.path)
        configuration.sharedRoots = roots
        configuration.documentCache = path + "/cache"
        // No test is about it, and thousands of places take their time under a sanitizer.
        configuration.documentTimeout = .seconds(120)
        return HandoffApplication(configuration: configuration, callbackQueue: kit.queue)
    }

    /// What was fetched and is here: the paths below the cache, without the folders that tell processes and documents apart.
    var fetched: [String] {
        let enumerator = FileManager.default.enumerator(atPath: path + "/cache/handoff/documents")
        let names = enumerator?.compactMap { $0 as? String } ?? []
        return names.map { $0.split(separator: "/").dropFirst(2).joined(separator: "/") }.filter { !$0.isEmpty }
            .sorted()
    }
}
