import Glibc

/// The file of a unix socket that we made, known by its inode so that a successor's is never removed.
struct UnixSocketFile: Sendable {
    let path: String
    private let device: UInt64
    private let inode: UInt64

    /// Notes the file that is at `path` now.
    init(at path: String) throws(Errno) {
        let status = try FileStatus(at: path)
        self.path = path
        device = status.device
        inode = status.inode
    }

    /// Removes the file if it still is the one that was noted.
    func remove() {
        guard let status = try? FileStatus(at: path) else { return }  // Gone already.
        // Nobody else can put a file there meanwhile: the folder is ours alone.
        if status.device == device, status.inode == inode { unlink(path.systemPath) }
    }
}
