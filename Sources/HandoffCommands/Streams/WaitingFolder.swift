import HandoffClient
import HandoffControl
import HandoffModel
import LoopIO

/// The items that wait for their devices, and those that could not be delivered: one file for each,
/// in the state folder of the daemon.
struct WaitingFolder {
    /// The maximum number of items. All are activities of one session.
    static let maxItems = 64

    /// The folder of the items that wait.
    let path: String
    /// The folder of the items that could not be delivered.
    private let undeliveredPath: String
    /// The lock file of the process that offers the items.
    private let lockPath: String

    /// - Parameter state: the state folder of the daemon.
    init(state: String) throws(CommandFailure) {
        // Only the daemon knows its working folder.
        guard state.hasPrefix("/") else { throw .file("use", state, why: "it is not an absolute path") }
        path = state + "/queue"
        undeliveredPath = state + "/undelivered"
        lockPath = state + "/queue.lock"
    }

    /// Locks the items for this process, until the returned value is released.
    func lock() throws(CommandFailure) -> ProcessLock {
        let lock: ProcessLock?
        do throws(Errno) {
            lock = try ProcessLock(lockPath)
        } catch {
            throw .file("lock", lockPath, why: "\(error)")
        }
        guard let lock else { throw .alreadyDelivering(process: ProcessLock.holder(lockPath)) }
        return lock
    }

    /// True if a process offers the items.
    var isServed: Bool { ProcessLock.holder(lockPath) != nil }

    // MARK: - Items that wait

    /// The names of the files, in the order in which the items were sent.
    func names() throws(CommandFailure) -> [String] { try Self.names(in: path) }

    /// Returns the path of a file.
    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Adds items: all of them or none.
    func add(_ items: [WaitingItem]) throws(CommandFailure) {
        let count = try names().count
        guard count + items.count <= Self.maxItems else {
            throw .file(
                "keep", items.count == 1 ? "the item" : "\(items.count) items",
                why: "\(count) are waiting already, and at most \(Self.maxItems) can; "
                    + "withdraw some (handoffctl list --mine, handoffctl withdraw ID)")
        }
        var added: [String] = []
        do throws(CommandFailure) {
            for item in items {
                added.append(try Self.write(item.encoded, in: path, position: added.count))
            }
        } catch {
            for path in added { try? FolderListing.removeFile(path) }
            throw error
        }
    }

    // MARK: - Items that could not be delivered

    /// Keeps the failure of an item for the user. The oldest of too many are removed.
    func add(_ item: UndeliveredItem) throws(CommandFailure) {
        _ = try Self.write(item.encoded, in: undeliveredPath)
        for name in try Self.names(in: undeliveredPath).dropLast(Self.maxItems) {
            try? FolderListing.removeFile("\(undeliveredPath)/\(name)")
        }
    }

    /// The items that could not be delivered, oldest first.
    var undelivered: [UndeliveredItem] { undeliveredFiles.map(\.item) }

    /// Removes an item that could not be delivered.
    /// - Parameter prefix: the beginning of its id.
    /// - Returns: its id; nil if not exactly one item matches.
    func removeUndelivered(_ prefix: String) throws(Errno) -> ActivityID? {
        let digits = DeviceNames.digits(prefix)
        let found = undeliveredFiles.filter { !digits.isEmpty && $0.item.id.hex.hasPrefix(digits) }
        guard found.count == 1 else { return nil }
        try FolderListing.removeFile(found[0].path)
        return found[0].item.id
    }

    private var undeliveredFiles: [(path: String, item: UndeliveredItem)] {
        ((try? Self.names(in: undeliveredPath)) ?? []).compactMap { name in
            let path = "\(undeliveredPath)/\(name)"
            let bytes = try? LocalFile.beginning(of: path, limit: UndeliveredItem.maxFile)
            return bytes.flatMap { UndeliveredItem(parsing: $0) }.map { (path, $0) }
        }
    }

    // MARK: - Files

    private static let suffix = ".json"

    private static func names(in folder: String) throws(CommandFailure) -> [String] {
        do throws(Errno) {
            return try FolderListing.names(in: folder, limit: 4096).filter { $0.hasSuffix(suffix) }.sorted()
        } catch .noSuchFile {
            return []
        } catch {
            throw .file("read", folder, why: "\(error)")
        }
    }

    /// Writes a new file, and creates the folder if needed.
    /// - Parameter position: the position of the item in the command that sends it.
    /// - Returns: its path. Paths are sorted by time and position.
    private static func write(_ bytes: [UInt8], in folder: String, position: Int = 0) throws(CommandFailure) -> String {
        do throws(Errno) {
            try FolderListing.createFolder(folder)
        } catch .exists {
        } catch {
            throw .file("create", folder, why: "\(error)")
        }
        let stamp = Int64(SystemWallClock().secondsSince1970 * 1000)
        // Distinguishes two commands at one time.
        let random = UInt32.random(in: .min ... .max)
        let path = "\(folder)/\(stamp)-\(100 + position)-\(random)\(suffix)"
        do throws(Errno) {
            try NewFile(path: path).finish(writing: bytes)
        } catch {
            throw .file("write", path, why: "\(error)")
        }
        return path
    }
}

extension CommandContext {
    /// Requests the folder of the daemon, and passes it on. An error thrown by `then` fails the
    /// command.
    func withWaitingFolder(
        _ client: ControlClient, _ then: @escaping (WaitingFolder) throws(CommandFailure) -> Void
    ) {
        receive(client.diagnose) { (diagnosis: ControlDiagnosis) throws(CommandFailure) in
            try then(WaitingFolder(state: diagnosis.stateFolder))
        }
    }
}
