import CLinux
import Glibc
import HandoffModel
package import LoopIO

/// Follows the links and addresses of this machine over rtnetlink(7). Avahi updates only the
/// addresses of its own host name. It must be used on a discovery thread.
package final class LocalAddresses {
    private static let receiveSize = 65536
    /// The delay before the next attempt to open a descriptor.
    private static let retryInterval = Duration.seconds(5)

    private let loop: DiscoveryLoop
    private let logger: Logger
    private let onChange: (InterfaceTable) -> Void
    private var descriptor: Int32 = -1
    private var retryTimer: DiscoveryTimer?
    private var table = InterfaceTable()
    private var reported: InterfaceTable?
    private var hasFailed = false
    private var sequence: UInt32 = 0
    /// The type of the running dump, since the kernel runs one at a time; nil when the table is
    /// complete.
    private var dumping: UInt16?

    /// Reads the table and calls `onChange` with it, and calls it again in the loop's turns after
    /// each change.
    package init(loop: DiscoveryLoop, logger: Logger, onChange: @escaping (InterfaceTable) -> Void) {
        self.loop = loop
        self.logger = logger
        self.onChange = onChange
        retryTimer = loop.timer { [weak self] in self?.open() }
        open()
    }

    private func open() {
        descriptor = clinux_netlink_open(0)
        guard descriptor >= 0 else {
            let error = Errno.current.description
            if !hasFailed { logger.error("Cannot follow this machine's addresses", ["error": error]) }
            hasFailed = true
            retryTimer?.set(loop.now + LocalAddresses.retryInterval)
            return
        }
        loop.watch(descriptor) { [unowned self] in receive() }
        dumpAll()
        // The kernel replies immediately. Wait for it, so that the interfaces are known before
        // anything else.
        var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while dumping != nil, poll(&readable, 1, 1000) > 0 { receive() }
    }

    /// May run only after the loop has ended, which frees its watch.
    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    private func dumpAll() {
        table = InterfaceTable()
        dump(UInt16(clinux_netlink_get_link))
    }

    private func dump(_ kind: UInt16) {
        sequence &+= 1
        dumping = kind
        if clinux_netlink_dump(descriptor, kind, sequence) != 0 {
            logger.error("Cannot request this machine's addresses", ["error": Errno.current.description])
            dumping = nil
        }
    }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: LocalAddresses.receiveSize)
        while true {
            let count = clinux_netlink_receive(descriptor, &buffer, buffer.count)
            if count < 0 {
                let error = Errno.current
                if error == .wouldBlock { break }
                // Messages were lost (ENOBUFS, or one larger than any that the kernel sends).
                // Request everything again.
                logger.notice("Lost changes to this machine's addresses", ["error": error.description])
                dumpAll()
                break
            }
            for change in NetlinkDecoder.decode(buffer.prefix(count)) { apply(change) }
        }
        guard dumping == nil, table != reported else { return }
        reported = table
        onChange(table)
    }

    private func apply(_ change: InterfaceChange) {
        switch change {
        case .done(sequence), .refused(_, sequence):
            let isLinks = dumping == UInt16(clinux_netlink_get_link)
            dumping = nil
            if isLinks { dump(UInt16(clinux_netlink_get_addr)) }
        default:
            table.apply(change)
        }
    }
}
