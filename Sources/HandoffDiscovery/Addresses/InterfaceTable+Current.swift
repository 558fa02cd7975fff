import CLinux
import Glibc
package import LoopIO

extension InterfaceTable {
    /// The links and addresses of this machine as they are now (rtnetlink(7)); for one look, where `LocalAddresses` is for
    /// following them. The kernel answers at once; should it not, what it has told within a second.
    /// - Throws: when there is no descriptor for it.
    package static func current() throws(Errno) -> InterfaceTable {
        let raw = clinux_netlink_open()
        guard raw >= 0 else { throw .current }
        let descriptor = Descriptor(owning: raw)
        var table = InterfaceTable()
        let kinds = [clinux_netlink_get_link, clinux_netlink_get_addr]
        for (sequence, kind) in kinds.enumerated() {
            guard clinux_netlink_dump(descriptor.raw, UInt16(kind), UInt32(sequence)) == 0 else { throw .current }
            while !table.takeAnswers(from: descriptor.raw, sequence: UInt32(sequence)) {
                var readable = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
                guard poll(&readable, 1, 1000) > 0 else { return table }
            }
        }
        return table
    }

    /// Takes in what has arrived; true at the end of the answer.
    private mutating func takeAnswers(from descriptor: Int32, sequence: UInt32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = clinux_netlink_receive(descriptor, &buffer, buffer.count)
            guard count > 0 else { return false }
            for change in NetlinkDecoder.decode(buffer.prefix(count)) {
                switch change {
                case .done(sequence), .refused(_, sequence): return true
                default: apply(change)
                }
            }
        }
    }
}
