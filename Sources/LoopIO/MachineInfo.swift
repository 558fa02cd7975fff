import CLinux
import CSystemd
import Glibc

/// What the system knows of the machine.
package enum MachineInfo {
    /// How many processors are online (sysconf(3), _SC_NPROCESSORS_ONLN); 1 when the system does not say.
    package static var processors: Int {
        max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }

    /// The machine's own name, up to its first dot (gethostname(2)).
    package static func hostName() -> String? {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
        let bytes = buffer.prefix { $0 != 0 && $0 != CChar(UInt8(ascii: ".")) }.map { UInt8(bitPattern: $0) }
        return String(validating: bytes, as: UTF8.self).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The unit of the user's service manager that a process runs in (sd_pid_get_user_unit(3)); nil when it is in none.
    /// - Throws: when the system does not tell: the process has ended, or is none of ours to see.
    package static func userUnit(ofProcess process: Int32) throws(Errno) -> String? {
        // 0 stands for ourselves there, and for a process of another namespace in what a socket says of its peer.
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

    /// Whether there is a process with this number that is ours to see (kill(2) with signal 0).
    package static func isRunning(_ process: Int32) -> Bool {
        process > 0 && (kill(process, 0) == 0 || errno == EPERM)
    }

    /// How many files this process may have open (getrlimit(2), RLIMIT_NOFILE); nil without a limit.
    package static var openFileLimit: Int? { limit(RLIMIT_NOFILE) }

    /// How many bytes this process may keep out of swap (RLIMIT_MEMLOCK); nil without a limit.
    package static var lockedMemoryLimit: Int? { limit(__RLIMIT_MEMLOCK) }

    /// Whether this process has the rights of the administrator (geteuid(2)).
    package static var isAdministrator: Bool { geteuid() == 0 }

    /// The largest packets that an interface carries, in bytes (netdevice(7), SIOCGIFMTU); nil when there is none of this name.
    package static func packetSize(ofInterface name: String) -> Int? {
        let size = clinux_packet_size(name)
        return size > 0 ? Int(size) : nil
    }

    /// Whether this process is in a user namespace in which not all users of the machine are (user_namespaces(7)).
    package static var isInUserNamespace: Bool {
        guard let map = try? LocalFile.read("/proc/self/uid_map", limit: 65_536).bytes else { return false }
        let words = String(decoding: map, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        return words != ["0", "0", "4294967295"]
    }

    /// Whether the kernel knows that something keeps the clock right (adjtimex(2)); nil when it does not say.
    package static var clockIsSynchronized: Bool? {
        switch clinux_clock_is_synchronized() {
        case 1: true
        case 0: false
        default: nil
        }
    }

    /// The soft limit, which is the one that counts; RLIM_INFINITY is all ones.
    private static func limit(_ resource: __rlimit_resource) -> Int? {
        var limit = rlimit()
        let kind = __rlimit_resource_t(resource.rawValue)
        guard getrlimit(kind, &limit) == 0, limit.rlim_cur != rlim_t.max else { return nil }
        return Int(clamping: limit.rlim_cur)
    }
}
