/// Reads `/proc/net/tcp` and its like (proc_pid_net(5)).
package enum SocketTable {
    /// The states of sockets that take what comes: TCP_LISTEN, and TCP_CLOSE for UDP sockets without a peer.
    private static let receiving: Set<String> = ["0A", "07"]

    /// Whether a socket receives on a port, in any of the tables; nil when none can be read.
    package static func listens(on port: UInt16, in tables: [FileFact]) -> Bool? {
        let texts = tables.compactMap(\.content)
        guard !texts.isEmpty else { return nil }
        return texts.contains { text in
            text.split(separator: "\n").dropFirst().contains { line in
                //   sl  local_address rem_address   st ...
                let words = line.split(separator: " ")
                guard words.count > 3, receiving.contains(String(words[3])) else { return false }
                return words[1].split(separator: ":").last.flatMap { UInt16($0, radix: 16) } == port
            }
        }
    }
}
