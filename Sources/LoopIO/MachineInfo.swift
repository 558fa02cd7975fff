import CLinux
import CSystemd
import Glibc

/// Information about this machine and this process.
package enum MachineInfo {
    /// The number of online processors (sysconf(3), _SC_NPROCESSORS_ONLN), or 1 if the system does
    /// not report it.
    package static var processors: Int {
        max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }

    /// Returns the machine's host name, up to its first dot (gethostname(2)).
    package static func hostName() -> String? {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
        let bytes = buffer.prefix { $0 != 0 && $0 != CChar(UInt8(ascii: ".")) }.map { UInt8(bitPattern: $0) }
        return String(validating: bytes, as: UTF8.self).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the unit of the user's service manager that a process runs in
    /// (sd_pid_get_user_unit(3)), or nil if it runs in none.
    /// - Throws: an error if the process has ended or is not visible to this process.
    package static func userUnit(ofProcess process: Int32) throws(Errno) -> String? {
        // sd_pid_get_user_unit interprets 0 as the calling process. In a socket's peer credentials,
        // 0 is a process of another namespace.
        guard process > 0 else { throw .noSuchProcess }
        var unit: UnsafeMutablePointer<CChar>?
        let result = sd_pid_get_user_unit(process, &unit)
        guard result >= 0 else {
            guard result == -ENXIO || result == -ENODATA else { throw Errno(rawValue: -result) }
            return nil
        }
        guard let unit else { return nil }
        defer { free(unit) }
        return String(cString: unit)
    }

    /// Returns true if a process with this number exists and is visible to this process (kill(2)
    /// with signal 0).
    package static func isRunning(_ process: Int32) -> Bool {
        process > 0 && (kill(process, 0) == 0 || errno == EPERM)
    }

    /// The maximum number of files this process may have open (getrlimit(2), RLIMIT_NOFILE); nil if
    /// unlimited.
    package static var openFileLimit: Int? { limit(RLIMIT_NOFILE) }

    /// The maximum number of bytes this process may lock in memory (RLIMIT_MEMLOCK); nil if
    /// unlimited.
    package static var lockedMemoryLimit: Int? { limit(__RLIMIT_MEMLOCK) }

    /// Returns the MTU of an interface in bytes (netdevice(7), SIOCGIFMTU), or nil if there is no
    /// interface of this name.
    package static func packetSize(ofInterface name: String) -> Int? {
        let size = clinux_packet_size(name)
        return size > 0 ? Int(size) : nil
    }

    /// True if this process is in a user namespace that does not map all users of the machine
    /// (user_namespaces(7)).
    package static var isInUserNamespace: Bool {
        guard let map = try? LocalFile.read("/proc/self/uid_map", limit: 65_536).bytes else { return false }
        let words = String(decoding: map, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        return words != ["0", "0", "4294967295"]
    }

    /// True if the kernel reports that the clock is synchronised (adjtimex(2)); nil if it reports
    /// no state.
    package static var clockIsSynchronized: Bool? {
        switch clinux_clock_is_synchronized() {
        case 1: true
        case 0: false
        default: nil
        }
    }

    /// Returns the soft limit, which is the effective one. RLIM_INFINITY is all ones.
    private static func limit(_ resource: __rlimit_resource) -> Int? {
        var limit = rlimit()
        let kind = __rlimit_resource_t(resource.rawValue)
        guard getrlimit(kind, &limit) == 0, limit.rlim_cur != rlim_t.max else { return nil }
        return Int(clamping: limit.rlim_cur)
    }
}
