public import Foundation
import HandoffDocuments
import LoopIO

/// A folder that also exists on the user's other devices. A `file:` URL below it arrives there as a
/// URL of the same document. The path itself never leaves the device.
public struct HandoffSharedRoot: Sendable, Equatable {
    private enum Kind: Equatable {
        case folder(SharedRoots.Folder)
        case checkouts(String)
    }

    private let kind: Kind

    /// Creates a shared folder that has the same name on each device, such as one kept in sync by
    /// another program.
    /// - Parameters:
    ///   - name: 1 to 64 ASCII letters, digits, `.`, `_` and `-`, not starting with a dot or a
    ///     dash. Any other name ends the process.
    ///   - url: the local folder, a `file:` URL.
    public static func folder(_ name: String, at url: URL) -> HandoffSharedRoot {
        guard url.isFileURL, let folder = SharedRoots.Folder(name: name, path: url.path) else {
            misuse("a shared root needs a name of letters and digits, and the URL of a folder, not '\(name)', '\(url)'")
        }
        return HandoffSharedRoot(kind: .folder(folder))
    }

    /// Creates a folder that is searched for git checkouts, down to the fourth level. A checkout is
    /// identified by the address of its remote `origin`. All notations of an address are
    /// equivalent. User names and passwords in it are not sent.
    /// - Parameter url: a `file:` URL; any other URL ends the process.
    public static func checkouts(in url: URL) -> HandoffSharedRoot {
        var roots = SharedRoots()
        guard url.isFileURL, roots.addCheckouts(url.path), let path = roots.checkouts.first else {
            misuse("checkouts need the URL of a folder, not '\(url)'")
        }
        return HandoffSharedRoot(kind: .checkouts(path))
    }

    /// Returns the folders that the user has set in `documents.conf`. Reads the files
    /// synchronously.
    public static func configured() -> [HandoffSharedRoot] {
        let roots = DocumentsFile.read(environment: ProcessEnvironment.all).roots
        return roots.folders.map { HandoffSharedRoot(kind: .folder($0)) }
            + roots.checkouts.map { HandoffSharedRoot(kind: .checkouts($0)) }
    }

    /// Combines roots into one value. If two folders have the same name, the last one is used.
    static func all(_ roots: [HandoffSharedRoot]) -> SharedRoots {
        var all = SharedRoots()
        for root in roots {
            switch root.kind {
            case .folder(let folder): all.add(folder)
            case .checkouts(let path): all.addCheckouts(path)
            }
        }
        return all
    }
}
