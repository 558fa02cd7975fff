import Glibc
package import LoopIO

/// The sockets of a bus, from addresses in the D-Bus specification's form:
/// `unix:path=/run/user/1000/bus;…`.
package struct BusAddress: Equatable {
    /// The sockets' paths.
    package let paths: [String]

    /// Parses a list of addresses.
    /// - Returns: Nil if an address is not a path, because a folder watch could not detect its
    ///   socket.
    package init?(addresses: String) {
        var paths: [String] = []
        for address in addresses.split(separator: ";") {
            guard address.hasPrefix("unix:") else { return nil }
            let values = address.dropFirst(5).split(separator: ",").filter { $0.hasPrefix("path=") }
            guard values.count == 1, let path = Self.unescaped(values[0].dropFirst(5)), path.hasPrefix("/") else {
                return nil
            }
            paths.append(path)
        }
        guard !paths.isEmpty else { return nil }
        self.paths = paths
    }

    /// The addresses that sd-bus uses for this bus.
    init?(_ kind: LoopBus.Kind, environment: (String) -> String? = ProcessEnvironment.value) {
        switch kind {
        case .system:
            self.init(addresses: environment("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket")
        case .user:
            let folder = environment("XDG_RUNTIME_DIR").map { "unix:path=\($0)/bus" }
            guard let addresses = environment("DBUS_SESSION_BUS_ADDRESS") ?? folder else { return nil }
            self.init(addresses: addresses)
        }
    }

    /// True if any of the sockets exists, even if no process listens on it.
    package var exists: Bool { paths.contains { access($0, F_OK) == 0 } }

    /// For each socket, the folder to watch and the name to expect in it: the socket, or the next
    /// missing parent folder.
    package var folders: [String: FolderWatch.Interest] {
        var names: [String: Set<String>] = [:]
        for path in paths {
            var (folder, name) = Self.split(path)
            while folder != "/", access(folder, F_OK) != 0 { (folder, name) = Self.split(folder) }
            names[folder, default: []].insert(name)
        }
        return names.mapValues { .names($0) }
    }

    /// Splits an absolute path into its folder and last name. The folder of a top-level path is
    /// `/`.
    private static func split(_ path: String) -> (folder: String, name: String) {
        let trimmed = path.last == "/" ? String(path.dropLast()) : path
        guard let slash = trimmed.lastIndex(of: "/") else { return ("/", trimmed) }
        let folder = String(trimmed[..<slash])
        return (folder.isEmpty ? "/" : folder, String(trimmed[trimmed.index(after: slash)...]))
    }

    /// Decodes percent escapes (`%2C`); nil if one is invalid.
    private static func unescaped(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
