import CLinux
import Glibc
package import LoopIO

/// Lists, opens and deletes nested folders by name, without following links.
enum FolderTree {
    /// Returns the names in a folder without `.` and `..`, each NUL-terminated (readdir(3)).
    static func names(in number: Int32) throws(Errno) -> [[CChar]] {
        // A separate open file, because the stream closes it and reads from its offset.
        let own = try SystemCall.retrying { openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let stream = fdopendir(own) else {
            let error = Errno.current
            _ = Glibc.close(own)
            throw error
        }
        defer { closedir(stream) }
        var names: [[CChar]] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw .current }
                return names
            }
            // Reads past the declared length of `d_name`: some file systems have names of more than
            // 255 bytes.
            let start = UnsafeRawPointer(entry).advanced(by: nameOffset)
            let room = max(0, Int(entry.pointee.d_reclen) - nameOffset)
            let bytes = UnsafeRawBufferPointer(start: start, count: room)
            let name = bytes.prefix { $0 != 0 }.nullTerminated
            let dot = CChar(bitPattern: UInt8(ascii: "."))
            if name != [dot, 0], name != [dot, dot, 0] { names.append(name) }
        }
    }

    private static let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 19

    /// Opens a file or folder below a folder.
    /// - Parameters:
    ///   - path: at least one component, all checked.
    ///   - calls: if openat2(2) is unavailable, folders are opened one by one.
    static func open(
        _ path: [[UInt8]], below folder: Int32, flags: Int32, calls: KernelCalls
    ) throws(Errno) -> Descriptor {
        if calls.opensBeneath {
            do throws(Errno) {
                let text = path.joined(separator: [UInt8(ascii: "/")]).nullTerminated
                return Descriptor(
                    owning: try SystemCall.retrying { clinux_open_beneath(folder, text, flags | O_NOFOLLOW, 0) })
            } catch {
                // EPERM: a sandbox that does not know the call.
                guard error == .noSuchCall || error == .notPermitted else { throw error }
            }
        }
        guard let last = path.last else { throw .noSuchFile }
        var parent: Descriptor?
        for component in path.dropLast() {
            parent = try open(component, in: parent?.raw ?? folder, flags: O_RDONLY | O_DIRECTORY)
        }
        return try open(last, in: parent?.raw ?? folder, flags: flags)
    }

    private static func open(_ name: [UInt8], in folder: Int32, flags: Int32) throws(Errno) -> Descriptor {
        let text = name.nullTerminated
        return Descriptor(
            owning: try SystemCall.retrying { openat(folder, text, flags | O_NOFOLLOW | O_CLOEXEC) })
    }

    /// Deletes the content of a folder created by this program.
    static func empty(_ number: Int32, depth: Int = 0) throws(Errno) {
        // Unpacked folders are never deeper.
        guard depth <= TarLimits.depth else { throw .notEmpty }
        for name in try names(in: number) {
            do throws(Errno) {
                try SystemCall.retrying { unlinkat(number, name, 0) }
            } catch .isAFolder {
                try emptyAndDelete(name, in: number, depth: depth)
            } catch .notPermitted {
                // The error that POSIX specifies for a folder.
                try emptyAndDelete(name, in: number, depth: depth)
            }
        }
    }

    private static func emptyAndDelete(_ name: [CChar], in number: Int32, depth: Int) throws(Errno) {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let folder: Descriptor
        do throws(Errno) {
            folder = Descriptor(owning: try SystemCall.retrying { openat(number, name, flags) })
        } catch .permissionDenied {
            // The folder already has its final mode.
            try SystemCall.retrying { fchmodat(number, name, 0o700, 0) }
            folder = Descriptor(owning: try SystemCall.retrying { openat(number, name, flags) })
        }
        let raw = folder.raw
        _ = try FileMode.set(0o700, of: raw, calls: KernelCalls())
        try empty(raw, depth: depth + 1)
        try SystemCall.retrying { unlinkat(number, name, AT_REMOVEDIR) }
    }
}

extension Errno {
    /// EPERM: not permitted, regardless of the mode.
    static let notPermitted = Errno(rawValue: EPERM)
}

/// Content of transfers in a folder that belongs to the program.
package enum ReceivedContent {
    /// Deletes a folder and its content, regardless of modes. Links are deleted, not followed.
    /// Blocks while the file system does.
    /// - Throws: an error of open(2), unlink(2) or rmdir(2). A folder that does not exist is no
    ///   error.
    package static func remove(folder path: String) throws(Errno) {
        do throws(Errno) {
            let folder = Descriptor(
                owning: try SystemCall.retrying {
                    open(path.systemPath, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                })
            try FolderTree.empty(folder.raw)
            try SystemCall.retrying { rmdir(path.systemPath) }
        } catch .noSuchFile {
            return
        }
    }
}
