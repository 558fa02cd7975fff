import Foundation
import HandoffKit

/// A folder for the documents of a test, which is deleted with its contents.
final class DocumentPlace: Sendable {
    /// The path, without links.
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.resolvingSymlinksInPath().path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Returns the URL of a file in the folder.
    func url(_ name: String) -> URL { URL(fileURLWithPath: "\(path)/\(name)") }

    /// Writes a file, creating the parent folders.
    @discardableResult
    func write(_ text: String, to name: String) throws -> URL {
        let place = url(name)
        try FileManager.default.createDirectory(
            at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: place)
        return place
    }

    /// Returns an app with these roots, whose cache is in this folder.
    func application(
        _ kit: KitTest, types: [String] = [], roots: [HandoffSharedRoot] = []
    ) -> HandoffApplication {
        var configuration = HandoffApplication.Configuration(
            identifier: "app", activityTypes: types, socketPath: kit.path)
        configuration.sharedRoots = roots
        configuration.documentCache = path + "/cache"
        // No test covers it, and resolving thousands of documents is slow under a sanitizer.
        configuration.documentTimeout = .seconds(120)
        return HandoffApplication(configuration: configuration, callbackQueue: kit.queue)
    }

    /// The fetched documents: paths relative to the cache, without the folders that separate
    /// processes and documents.
    var fetched: [String] {
        let enumerator = FileManager.default.enumerator(atPath: path + "/cache/handoff/documents")
        let names = enumerator?.compactMap { $0 as? String } ?? []
        return names.map { $0.split(separator: "/").dropFirst(2).joined(separator: "/") }.filter { !$0.isEmpty }
            .sorted()
    }
}
