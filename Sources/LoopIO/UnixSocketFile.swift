import Glibc

/// The file of a unix socket that this process created. It is identified by its inode, so that a
/// successor's file is never removed.
struct UnixSocketFile: Sendable {
    let path: String
    private let device: UInt64
    private let inode: UInt64

    /// Records the file that is currently at `path`.
    init(at path: String) throws(Errno) {
        let status = try FileStatus(at: path)
        self.path = path
        device = status.device
        inode = status.inode
    }

    /// Removes the file if it is still the recorded one.
    func remove() {
        guard let status = try? FileStatus(at: path) else { return }  // Already removed.
        // No other user can replace the file in between, because only this user can access the
        // folder.
        if status.device == device, status.inode == inode { unlink(path.systemPath) }
    }
}
