import CSystemdBus
import Glibc
import LoopIO
import Timing

/// Who has a connection to a bus. On the loop's thread; never told anything inside a call of the connection.
protocol LoopBusDelegate: AnyObject {
    /// There is a new connection, on which to follow and to call: an error loses it. It is not known yet whether the bus lets us in;
    /// what is sent waits for that.
    func busOpened() throws(Errno)
    /// There is no connection any more, or none could be made; its calls and matches have ended.
    ///
    /// - Parameter wasOpen: whether there was one.
    func busLost(wasOpen: Bool)
}

/// A connection to a bus, on a loop. Lives on the loop's thread; never waits.
///
/// A bus that is lost is tried again, less and less often. One whose socket is not there is not tried: its folder is watched, so that
/// a machine without a bus is never woken for it. On each new connection the owner says what it wants to hear of, and asks what it
/// wants to know.
final class LoopBus {
    /// Which bus.
    enum Kind {
        /// sd_bus_open_system(3)
        case system
        /// sd_bus_open_user(3)
        case user
    }

    /// The name of the bus itself, and of its interface.
    static let name = "org.freedesktop.DBus"
    /// How long after its socket has come a bus is called: before it listens nobody is let in.
    private static let pauseBeforeListening = Duration.milliseconds(100)
    /// The object of the bus itself.
    static let path = "/org/freedesktop/DBus"
    /// The interface by which objects tell their properties.
    static let propertiesInterface = "org.freedesktop.DBus.Properties"

    private let loop: EventLoop
    private let kind: Kind
    /// In microseconds.
    private let timeout: UInt64
    private weak var delegate: (any LoopBusDelegate)?
    private var bus: OpaquePointer?
    private var matches: [BusCall] = []
    private var calls: [ObjectIdentifier: BusCall] = [:]
    private var backoff = Backoff.messageBus
    private var timer: LoopTimer?
    /// Tells when the socket of a bus comes that is not there.
    private var watch: FolderWatch?
    private var isLost = false
    private var isStopped = false

    /// Does nothing yet.
    ///
    /// - Parameter timeout: how long a call may wait for its answer, in microseconds.
    init(_ kind: Kind, loop: EventLoop, timeout: UInt64) {
        self.kind = kind
        self.loop = loop
        self.timeout = timeout
    }

    deinit {
        disconnect()
    }

    /// Begins to look for the bus.
    func start(_ delegate: any LoopBusDelegate) {
        self.delegate = delegate
        loop.later { [weak self] in self?.connect() }
    }

    /// Ends it: nothing is told any more. What could not be written yet is never sent (sd_bus_close_unref(3)); a bus that has
    /// let us in and keeps reading was given everything when it was asked for.
    func stop() {
        isStopped = true
        timer = nil
        watch = nil
        disconnect()
    }

    /// Whether there is a connection.
    var isOpen: Bool { bus != nil }

    /// Somebody has answered: when the connection is lost, the next is tried soon.
    func reached() {
        backoff.reset()
    }

    /// The connection is of no use any more; another is made in a while.
    func lost() {
        guard !isLost else { return }
        isLost = true
        // Not inside the callback that said so.
        loop.later { [weak self] in
            guard let self, !isStopped else { return }
            let wasOpen = isOpen
            disconnect()
            if !waitForSocket() {
                let wait = backoff.next()
                timer = loop.timer(after: wait, accuracy: .seconds(1)) { [weak self] in self?.connect() }
            }
            delegate?.busLost(wasOpen: wasOpen)
        }
    }

    /// Has `connect` called when the socket comes.
    /// - Returns: false when it is there already, or where it would come cannot be watched.
    private func waitForSocket() -> Bool {
        guard let place = BusPlace(kind), !place.isThere else { return false }
        do throws(Errno) {
            let watch = try FolderWatch(on: loop) { [weak self] in self?.folderChanged(place) }
            // A folder that went meanwhile has told nobody.
            var folders = place.folders
            while watch.setFolders(folders), place.folders != folders { folders = place.folders }
            // What came before the watch has told nobody either.
            guard !place.isThere else { return false }
            self.watch = watch
            return true
        } catch {
            return false
        }
    }

    private func folderChanged(_ place: BusPlace) {
        guard watch != nil else { return }
        // Nothing that the watch is in may end it.
        loop.later { [weak self] in
            guard let self, watch != nil else { return }
            watch = nil
            // A folder on the way has come, or the socket: it may be there and nobody listen yet, or no more, for a moment.
            if place.isThere || !waitForSocket() {
                timer = loop.timer(after: Self.pauseBeforeListening, accuracy: .seconds(1)) { [weak self] in
                    self?.connect()
                }
            }
        }
    }

    private func connect() {
        guard bus == nil, !isStopped else { return }
        isLost = false
        watch = nil
        do throws(Errno) {
            var bus: OpaquePointer?
            // Connects without waiting; what follows is sent once the bus has let us in.
            switch kind {
            case .system: try Errno.check(sd_bus_open_system(&bus))
            case .user: try Errno.check(sd_bus_open_user(&bus))
            }
            self.bus = bus
            try Errno.check(sd_bus_set_method_call_timeout(bus, timeout))
            try Errno.check(sd_bus_attach_event(bus, loop.event, 0))
            try follow("sender='\(Self.name).Local',member='Disconnected'") { [weak self] _ in self?.lost() }
            try delegate?.busOpened()
        } catch {
            lost()
        }
    }

    private func disconnect() {
        for call in matches { call.cancel() }
        for call in calls.values { call.cancel() }
        matches = []
        calls = [:]
        guard let bus else { return }
        self.bus = nil
        sd_bus_detach_event(bus)
        sd_bus_close_unref(bus)
    }

    // MARK: - What is sent

    /// Follows signals, as long as the connection lasts.
    ///
    /// - Parameters:
    ///   - rule: which (sd_bus_add_match(3)), without its `type`.
    ///   - handler: gets each, which lives during the call.
    /// - Throws: why they are not followed.
    func follow(_ rule: String, _ handler: @escaping (OpaquePointer) -> Void) throws(Errno) {
        let match = BusCall(of: nil) { message in
            if let message { handler(message) }
        }
        // Unretained: the bus keeps the match, which ends the call-backs of its slot with itself.
        let context = Unmanaged.passUnretained(match).toOpaque()
        try Errno.check(
            sd_bus_add_match_async(bus, &match.slot, "type='signal',\(rule)", busDidReply, nil, context))
        matches.append(match)
    }

    /// Calls a method.
    ///
    /// - Parameters:
    ///   - startsService: whether the bus may start the service for it.
    ///   - fill: writes the arguments.
    ///   - then: called once, unless the connection is lost or ended before: gets the reply, which lives during the call, or
    ///     nil for an error.
    /// - Throws: why nothing was sent; then nothing is answered either.
    func call(
        _ service: String, _ path: String, _ interface: String, _ member: String, startsService: Bool = true,
        _ fill: (inout BusMessage) -> Void = { _ in }, then: @escaping (OpaquePointer?) -> Void
    ) throws(Errno) {
        let pointer = try message(service, path, interface, member, fill)
        defer { sd_bus_message_unref(pointer) }
        if !startsService { sd_bus_message_set_auto_start(pointer, 0) }
        let call = BusCall(of: self, then)
        // Unretained: the bus keeps the call, which ends the call-backs of its slot with itself.
        let context = Unmanaged.passUnretained(call).toOpaque()
        try Errno.check(sd_bus_call_async(bus, &call.slot, pointer, busDidReply, context, 0))
        calls[ObjectIdentifier(call)] = call
    }

    /// A reply was delivered.
    func ended(_ call: BusCall) {
        calls[ObjectIdentifier(call)] = nil
    }

    /// Calls a method whose answer is of no interest, of somebody who is not started for it.
    ///
    /// - Parameter fill: writes the arguments.
    /// - Throws: why nothing was sent.
    func tell(
        _ service: String, _ path: String, _ interface: String, _ member: String, _ fill: (inout BusMessage) -> Void
    ) throws(Errno) {
        let pointer = try message(service, path, interface, member, fill)
        defer { sd_bus_message_unref(pointer) }
        sd_bus_message_set_auto_start(pointer, 0)
        sd_bus_message_set_expect_reply(pointer, 0)
        try Errno.check(sd_bus_send(bus, pointer, nil))
    }

    /// - Returns: a call that is the caller's to let go.
    private func message(
        _ service: String, _ path: String, _ interface: String, _ member: String, _ fill: (inout BusMessage) -> Void
    ) throws(Errno) -> OpaquePointer {
        guard let bus else { throw Errno(rawValue: ENOTCONN) }
        var pointer: OpaquePointer?
        try Errno.check(sd_bus_message_new_method_call(bus, &pointer, service, path, interface, member))
        guard let pointer else { throw Errno(rawValue: ENOMEM) }
        var message = BusMessage(pointer)
        fill(&message)
        guard message.result >= 0 else {
            sd_bus_message_unref(pointer)
            throw Errno(rawValue: 0 &- message.result)
        }
        return pointer
    }
}
