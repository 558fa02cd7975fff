public import Foundation
import HandoffDocuments
import LoopIO

/// A folder of this device that the user's other devices have, too. A `file:` URL below it arrives there pointing at the same
/// document. The path itself never leaves the device.
public struct HandoffSharedRoot: Sendable, Equatable {
    private enum Kind: Equatable {
        case folder(SharedRoots.Folder)
        case checkouts(String)
    }

    private let kind: Kind

    /// A folder that has the same name on each device, such as one that is kept equal by a program for that.
    /// - Parameters:
    ///   - name: 1 to 64 letters, digits, `.`, `_` and `-` of ASCII, not beginning with a dot or a dash; another one ends the
    ///     process.
    ///   - url: the folder here, a `file:` URL.
    public static func folder(_ name: String, at url: URL) -> HandoffSharedRoot {
        guard url.isFileURL, let folder = SharedRoots.Folder(name: name, path: url.path) else {
            misuse("a shared root needs a name of letters and digits, and the URL of a folder, not '\(name)', '\(url)'")
        }
        return HandoffSharedRoot(kind: .folder(folder))
    }

    /// A folder in which git checkouts are looked for, down to the fourth level. A checkout is known by the address of its remote
    /// `origin`: all ways to write it are one, and user names and passwords in it stay here.
    /// - Parameter url: a `file:` URL; another one ends the process.
    public static func checkouts(in url: URL) -> HandoffSharedRoot {
        var roots = SharedRoots()
        guard url.isFileURL, roots.addCheckouts(url.path), let path = roots.checkouts.first else {
            misuse("checkouts are looked for in a folder, not in '\(url)'")
        }
        return HandoffSharedRoot(kind: .checkouts(path))
    }

    /// What the user has set in `documents.conf`. Reads the files, and waits for them.
    public static func configured() -> [HandoffSharedRoot] {
        let roots = DocumentsFile.read(environment: ProcessEnvironment.all).roots
        return roots.folders.map { HandoffSharedRoot(kind: .folder($0)) }
            + roots.checkouts.map { HandoffSharedRoot(kind: .checkouts($0)) }
    }

    /// All of them in one value; of two folders with one name the last.
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
