import Glibc

/// The part of a file's status (stat(2)) that sockets need.
struct FileStatus {
    let device: UInt64
    let inode: UInt64
    let mode: UInt32
    let owner: UInt32

    /// Reads the status of a path (lstat(2)). A symbolic link is not followed.
    init(at path: String) throws(Errno) {
        var status = stat()
        try SystemCall.retrying { lstat(path.systemPath, &status) }
        self.init(status)
    }

    /// Reads the status of an open file (fstat(2)).
    init(of descriptor: Int32) throws(Errno) {
        var status = stat()
        try SystemCall.retrying { fstat(descriptor, &status) }
        self.init(status)
    }

    private init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        mode = status.st_mode
        owner = status.st_uid
    }

    var isSocket: Bool { mode & S_IFMT == S_IFSOCK }
}
