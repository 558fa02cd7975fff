import CAvahiCore
import Glibc
import HandoffDiscovery

/// The poll functions of a discovery loop, with a gate before the sockets that libavahi-core opens: a packet that the gate
/// refuses is thrown away before the library reads it. Lives on the discovery thread.
final class GatedPoll {
    /// What the library gets: its functions find this object behind them.
    private struct Table {
        var poll: AvahiPoll
        let owner: Unmanaged<GatedPoll>
    }

    /// A watch of the library.
    private final class Watch {
        unowned let owner: GatedPoll
        let callback: AvahiWatchCallback
        let context: UnsafeMutableRawPointer?

        init(_ owner: GatedPoll, _ callback: AvahiWatchCallback, _ context: UnsafeMutableRawPointer?) {
            (self.owner, self.callback, self.context) = (owner, callback, context)
        }
    }

    /// Packets that are thrown away before the loop may do something else.
    private static let maxInTurn = 64
    /// The largest packet of multicast DNS (RFC 6762 section 17).
    private static let maxPacket = 9000

    private let original: UnsafePointer<AvahiPoll>
    private let table: UnsafeMutablePointer<Table>
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: GatedPoll.maxPacket, alignment: 8)
    private var watches: [Watch] = []
    /// Says whether a packet is to be read; it owns this object.
    private unowned let library: AvahiServerLibrary

    /// - Parameter original: the loop's own functions, which outlive this object.
    init(_ original: UnsafePointer<AvahiPoll>, library: AvahiServerLibrary) {
        self.original = original
        self.library = library
        table = .allocate(capacity: 1)
        var poll = original.pointee
        poll.watch_new = { api, descriptor, events, callback, context in
            guard let api, let callback else { return nil }
            // The poll is the first member, so its address is the table's.
            let owner = UnsafeRawPointer(api).assumingMemoryBound(to: Table.self).pointee.owner.takeUnretainedValue()
            return owner.watch(descriptor, events, callback, context)
        }
        table.initialize(to: Table(poll: poll, owner: .passUnretained(self)))
    }

    deinit {
        table.deinitialize(count: 1)
        table.deallocate()
        buffer.deallocate()
    }

    /// What a new server gets; valid as long as this object.
    var poll: UnsafePointer<AvahiPoll> {
        // The poll is the table's first member, so both have one address.
        UnsafeRawPointer(table).assumingMemoryBound(to: AvahiPoll.self)
    }

    /// The server is freed, and all of its watches with it.
    func serverFreed() { watches = [] }

    private func watch(
        _ descriptor: Int32, _ events: AvahiWatchEvent, _ callback: @escaping AvahiWatchCallback,
        _ context: UnsafeMutableRawPointer?
    ) -> OpaquePointer? {
        guard Self.isDatagrams(descriptor) else {
            return original.pointee.watch_new(original, descriptor, events, callback, context)
        }
        let watch = Watch(self, callback, context)
        // Unretained: it is let go once the library has freed the watch with its server.
        watches.append(watch)
        return original.pointee.watch_new(
            original, descriptor, events,
            { handle, descriptor, events, context in
                guard let context else { return }
                let watch = Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue()
                watch.owner.ready(watch, handle, descriptor, events)
            }, Unmanaged.passUnretained(watch).toOpaque())
    }

    private func ready(_ watch: Watch, _ handle: OpaquePointer?, _ descriptor: Int32, _ events: AvahiWatchEvent) {
        guard events == AVAHI_WATCH_IN else { return watch.callback(handle, descriptor, events, watch.context) }
        for _ in 0..<Self.maxInTurn {
            let flags = Int32(MSG_PEEK | MSG_DONTWAIT)
            let count = recv(descriptor, buffer.baseAddress, buffer.count, flags)
            guard count >= 0 else { return }
            // The library reads one packet each time.
            if library.admits(UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
                return watch.callback(handle, descriptor, events, watch.context)
            }
            _ = recv(descriptor, buffer.baseAddress, 0, Int32(MSG_DONTWAIT))
        }
    }

    /// Whether it is a socket for packets of the network, and not the one by which the kernel tells of links.
    private static func isDatagrams(_ descriptor: Int32) -> Bool {
        var domain: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 else { return false }
        return domain == AF_INET || domain == AF_INET6
    }
}
