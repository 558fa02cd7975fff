import Foundation
import HandoffKit

// Commands about documents.
extension KitApp {
    /// Performs a command.
    func performDocument(_ name: String, _ command: [String: Any]) {
        switch command["do"] as? String {
        case "document":
            let url = URL(fileURLWithPath: command["path"] as? String ?? "/")
            let type = command["type"] as? String ?? "type"
            let document = documents[name] ?? HandoffDocument(fileURL: url, activityType: type)
            documents[name] = document
            document.fileURL = url
            document.becomeMain()
        case "close": documents.removeValue(forKey: name)?.close()
        case "files":
            let urls = (command["paths"] as? [String] ?? []).map { URL(fileURLWithPath: $0) }
            activities[name]?.userInfo = ["files": urls]
            activities[name]?.needsSave = true
        case "access":
            // On the callback queue, which blocks in the meantime.
            guard let url = url(command) else { return report("access", ["failure": "no such URL"]) }
            let exists = url.startAccessingSecurityScopedResource()
            report("access", ["there": exists, "path": url.path, "bytes": exists ? size(url) : nil])
        case "fetch":
            guard let url = url(command) else { return report("access", ["failure": "no such URL"]) }
            Task { [self] in
                do {
                    let there = try await HandoffDocument.fetch(url) { [self] progress in
                        report("progress", ["completed": progress.completed, "total": progress.total])
                    }
                    report("access", ["there": true, "path": there.path, "bytes": size(there)])
                } catch {
                    report("access", ["there": false], error: error)
                }
            }
        case "unaccess":
            let url = url(command)
            url?.stopAccessingSecurityScopedResource()
            report("unaccess", ["there": url.map { FileManager.default.fileExists(atPath: $0.path) }])
        default: break
        }
    }

    /// Returns a URL of the continued activity: one of its files, or its document.
    private func url(_ command: [String: Any]) -> URL? {
        guard let index = command["index"] as? Int else {
            return continued?.userInfo?[NSUserActivityDocumentURLKey] as? URL
        }
        let urls = continued?.userInfo?["files"] as? [URL] ?? []
        return urls.indices.contains(index) ? urls[index] : nil
    }

    private func size(_ url: URL) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: url.path))?[.size] as? Int
    }
}
