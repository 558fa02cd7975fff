import Glibc

/// The file of a unix socket that this process created. Its inode identifies it, so that a
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
        // Only this user can access the folder, so no other can replace the file in between.
        if status.device == device, status.inode == inode { unlink(path.systemPath) }
    }
}
