import HandoffModel
package import LoopIO

/// Drives either of Avahi's libraries according to `ServiceDirectory` and `PublicationPlan`. It
/// must be used on a discovery thread. Diagram: `docs/state-machines/discovery.md`.
package final class MulticastDriver: DiscoveryRole {
    private enum Connection: Equatable {
        /// The state while the library is open and has not responded.
        case opening
        /// The state while browsers and groups can be created.
        case running(since: MonotonicInstant)
        /// The state while the library waits for its daemon.
        case waiting
        /// The state while the library is closed until the next attempt.
        case closed
    }

    /// The delays between attempts, so that a daemon that exits immediately is not contacted in a
    /// tight loop.
    private var backoff = Backoff.responder
    /// The delay after all-for-now before instances that have not reappeared are removed.
    static let sweepDelay = Duration.seconds(5)

    private let loop: DiscoveryLoop
    private let library: any MulticastLibrary
    private let logger: Logger
    private let onEvent: @Sendable (DiscoveryEvent) -> Void
    private var directory: ServiceDirectory
    private var plan: PublicationPlan
    private var check: AnnouncementCheck
    /// The names of the interfaces on which to announce this device.
    private var announceable: [UInt32: String] = [:]
    private let options: DiscoveryOptions
    /// The number of consecutive attempts to publish that closed the library.
    private var interruptions = 0
    /// The reason why other devices are not found; nil while they are.
    private var browseFailure: String?
    private var addresses: LocalAddresses?
    private var usable: [LocalAddress]?
    private var connection = Connection.closed
    private var reportedState: DiscoveryState?
    private var wanted: Set<RecordQuery> = []
    private var browsed: Set<RecordQuery> = []
    private var refused: Set<RecordQuery> = []
    /// True if `browsed` and `wanted` may differ although the directory's queries have not changed.
    private var mustBrowse = false
    private var mustSweep = false
    private var openTimer: DiscoveryTimer?
    private var planTimer: DiscoveryTimer?
    private var sweepTimer: DiscoveryTimer?
    private var rotateTimer: DiscoveryTimer?
    private var retryTimer: DiscoveryTimer?

    package init(
        loop: DiscoveryLoop, library: any MulticastLibrary, options: DiscoveryOptions, logger: Logger,
        onEvent: @escaping @Sendable (DiscoveryEvent) -> Void
    ) {
        self.loop = loop
        self.library = library
        self.logger = logger
        self.onEvent = onEvent
        directory = ServiceDirectory(options: options, hears: library.hears)
        plan = PublicationPlan(options: options)
        check = AnnouncementCheck(needsEcho: library.kind == .avahi)
        self.options = options
    }

    package func start() {
        openTimer = loop.timer { [unowned self] in open() }
        planTimer = loop.timer {}  // The end of the turn does what is due.
        sweepTimer = loop.timer { [unowned self] in directory.sweep() }
        rotateTimer = loop.timer { [unowned self] in directory.rotate() }
        retryTimer = loop.timer { [unowned self] in
            refused = []
            mustBrowse = true
        }
        addresses = LocalAddresses(loop: loop, logger: logger) { [unowned self] in interfacesChanged($0) }
        updateState(.starting)
        open()
    }

    package func handle(_ command: DiscoveryCommand) {
        switch command {
        case .publish(let publication):
            if let publication { directory.setOwnInstance(publication.instance) }
            if !plan.setPublication(publication) { logger.fault("Cannot publish: invalid names or text") }
        case .setMembership(let isMember):
            directory.setMembership(isMember)
            library.setMembership(isMember)
        case .refresh(let instance):
            directory.refresh(instance)
        case .stop(let done):
            // Closing withdraws everything. No call may wait for a hanging daemon, which will
            // notice the closed connection.
            library.close()
            connection = .closed
            loop.finish()
            done()
        }
    }

    package func turnEnded() {
        guard !loop.isFinished else { return }
        // These actions may queue more events. Losing the library ends the round.
        var events = library.takeEvents()
        repeat {
            for event in events { process(event) }
            for event in directory.settle() { report(event) }
            if case .running = connection {
                browse()
                perform(plan.step(at: loop.now))
                updateStateIfRunning()
            }
            events = library.takeEvents()
        } while !events.isEmpty
        planTimer?.set(isRunning ? [plan.deadline, check.deadline].compactMap { $0 }.min() : nil)
        if !directory.isCrowded {
            rotateTimer?.set(nil)
        } else if rotateTimer?.deadline == nil {
            rotateTimer?.set(loop.now + ServiceDirectory.rotationPeriod)
        }
    }

    package func end() { library.close() }

    private var isRunning: Bool {
        if case .running = connection { true } else { false }
    }

    /// Updates the state if the library is running, including any obstacle.
    private func updateStateIfRunning() {
        guard isRunning else { return }
        check.update(
            isEstablished: plan.isAnnounced, interfaces: plan.isPublishing ? Set(announceable.keys) : [], at: loop.now)
        updateState(obstacle.map { .impaired($0) } ?? .running)
    }

    /// The reason why this device is not found or does not find others; nil if there is none.
    private var obstacle: String? {
        let name = library.kind == .avahi ? "avahi-daemon" : "libavahi-core"
        if let reason = plan.failure { return "this device is not announced: \(name) returned '\(reason)'" }
        if check.isHidden {
            let interfaces = announceable.values.sorted().joined(separator: ", ")
            return "this device is not announced: \(name) does not use the interfaces \(interfaces)"
        }
        return browseFailure.map { "other devices are not found: \(name) returned '\($0)'" }
    }

    private func open() {
        connection = .opening
        library.open()
    }

    private func interfacesChanged(_ table: InterfaceTable) {
        directory.setInterfaces(table)
        plan.setInterfaces(table)
        announceable = [:]
        for local in table.published(by: options) where table.isMulticast(local.interface) {
            announceable[local.interface] = table.name(of: local.interface)
        }
        // The first table is not a change.
        if let usable, usable != table.usable { onEvent(.networkChanged) }
        usable = table.usable
    }

    private func report(_ event: DiscoveryEvent) {
        if event == .allForNow, mustSweep {
            mustSweep = false
            sweepTimer?.set(loop.now + MulticastDriver.sweepDelay)
        }
        onEvent(event)
    }

    private func process(_ event: MulticastEvent) {
        switch event {
        case .running:
            guard !isRunning else { return }
            connection = .running(since: loop.now)
        case .waiting(let reason):
            connection = .waiting
            updateState(.unavailable(reason))
        case .lost(let reason):
            libraryLost(reason)
        case .appeared(let query, let link, let data):
            if query.kind == .instances, plan.isOwn(data) { check.echoed(on: link.interface) }
            if browsed.contains(query) { directory.appeared(query, on: link, data: data) }
        case .vanished(let query, let link, let data):
            if browsed.contains(query) { directory.vanished(query, on: link, data: data) }
        case .allForNow(let query):
            if browsed.contains(query) { directory.allForNow(query) }
        case .heard(let packet, let link, let source):
            directory.heard(packet, on: link, from: source)
        case .browserFailed(let query, let reason):
            refuse(query, .refused(reason))
        case .groupEstablished(let id):
            interruptions = 0
            plan.established(id)
        case .groupCollided(let id):
            if let instance = plan.collided(id) { onEvent(.conflict(instance: instance)) }
        case .groupFailed(let id, let reason):
            publishingFailed(id, reason)
        }
    }

    private func publishingFailed(_ id: UInt64, _ reason: String) {
        logger.debug("Cannot publish; retrying later", ["by": library.kind.rawValue, "reason": reason])
        plan.failed(id, reason, at: loop.now)
    }

    /// Closes the library and schedules another attempt. The delay doubles each time unless the
    /// library ran for long.
    private func libraryLost(_ reason: String) {
        guard connection != .closed else { return }
        if case .running(let since) = connection, loop.now - since >= backoff.maxDelay {
            backoff.reset()
        }
        forgetLibrary()
        openTimer?.set(loop.now + backoff.next())
        updateState(obstacle.map { .impaired($0) } ?? .unavailable(reason))
    }

    /// Reports and logs a new state, but does not repeat it at each attempt.
    private func updateState(_ state: DiscoveryState) {
        guard state != reportedState else { return }
        reportedState = state
        let kind = library.kind.rawValue
        switch state {
        case .starting: logger.debug("Starting discovery", ["by": kind])
        case .running: logger.info("Discovery is running", ["by": kind])
        case .impaired(let reason): logger.info("Discovery is impaired", ["by": kind, "reason": reason])
        case .unavailable(let reason): logger.info("Discovery is not available", ["by": kind, "reason": reason])
        }
        onEvent(.state(library.kind, state))
    }

    private func forgetLibrary() {
        library.close()
        _ = library.takeEvents()
        connection = .closed
        browsed = []
        refused = []
        mustBrowse = true
        directory.libraryLost()
        plan.libraryLost()
        check.libraryLost()
        mustSweep = true
        sweepTimer?.set(nil)
    }

    /// Starts and stops browsers to match the directory's queries.
    private func browse() {
        if let wanted = directory.takeWanted() {
            self.wanted = wanted
        } else if !mustBrowse {
            return
        }
        mustBrowse = false
        for query in browsed.subtracting(wanted) {
            browsed.remove(query)
            call { () throws(MulticastError) in try library.stopBrowsing(query) }
        }
        for query in wanted.subtracting(browsed).subtracting(refused) where isRunning {
            do {
                browsed.insert(query)
                try library.browse(query)
            } catch .disconnected(let reason) {
                libraryLost(reason)
            } catch {
                refuse(query, error)
            }
        }
        if refused.isEmpty { browseFailure = nil }
    }

    private func refuse(_ query: RecordQuery, _ error: MulticastError) {
        logger.debug("Cannot browse; retrying later", ["kind": "\(query.kind)", "reason": error.reason])
        // A rejected name does not matter, because other devices choose the names.
        if case .limited = error { browseFailure = error.reason }
        if query.kind == .instances { browseFailure = error.reason }
        if browsed.remove(query) != nil { call { () throws(MulticastError) in try library.stopBrowsing(query) } }
        refused.insert(query)
        if retryTimer?.deadline == nil { retryTimer?.set(loop.now + PublicationPlan.retryInterval) }
    }

    private func perform(_ actions: [PublicationPlan.Action]) {
        for action in actions where isRunning {
            do throws(MulticastError) {
                switch action {
                case .make(let id, let records, let interface):
                    try library.makeGroup(id, records: records, interface: interface)
                case .update(let id, let record, let interface):
                    try library.update(id, record: record, interface: interface)
                case .free(let id):
                    try library.freeGroup(id)
                }
            } catch {
                fail(action, error)
            }
        }
    }

    private func fail(_ action: PublicationPlan.Action, _ error: MulticastError) {
        switch (action, error) {
        case (.make, .disconnected(let reason)):
            interruptions += 1
            // A single failure is a restart of avahi-daemon. If the bus forbids the call, it closes
            // nothing, but the call fails each time.
            if interruptions > 1 { plan.failedAsWhole(reason) }
            libraryLost(reason)
        case (_, .disconnected(let reason)):
            libraryLost(reason)
        case (.make(let id, _, _), .collision), (.update(let id, _, _), .collision):
            if let instance = plan.collided(id) { onEvent(.conflict(instance: instance)) }
        case (.make(let id, _, _), _), (.update(let id, _, _), _):
            publishingFailed(id, error.reason)
        case (.free, _):
            // The group no longer exists, so nothing needs to be done.
            logger.debug("Cannot withdraw", ["by": library.kind.rawValue, "reason": error.reason])
        }
    }

    private func call(_ body: () throws(MulticastError) -> Void) {
        do {
            try body()
        } catch .disconnected(let reason) {
            libraryLost(reason)
        } catch {
            logger.debug("Cannot stop browsing", ["reason": error.reason])
        }
    }
}

/// A command from the owner of a multicast discovery to its thread.
package enum DiscoveryCommand: Sendable {
    case publish(Publication?)
    case setMembership(@Sendable (String) -> Bool)
    case refresh(String)
    case stop(@Sendable () -> Void)
}
