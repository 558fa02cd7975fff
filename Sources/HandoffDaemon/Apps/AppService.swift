import HandoffControl
import HandoffCrypto
import HandoffDocuments
import HandoffHandlers
import HandoffJSON
import HandoffModel
import HandoffProtocol
import LoopIO

/// The app interface (`dev.handoff1`): attachments, activities, and the replies to events. Lives on
/// the daemon's loop.
final class AppService {
    /// The maximum number of types that one app may declare. Real apps have a few.
    private static let maxTypes = 256

    private let loop: EventLoop
    private let log: Logger
    private let refusals: PacedLog
    private var times: ActivityTimes
    /// The maximum payload in bytes that other devices can continue. Larger ones are published with
    /// a warning.
    var payloadLimit: Int
    private let wallClock: any WallClock
    /// Weak because an app can reply during shutdown.
    private weak var core: DaemonCore?
    private(set) var store: ActivityStore
    private(set) var registry = AppRegistry()
    private lazy var saves = SaveRequests(loop: loop, timeout: times.saveAnswer) { [unowned self] in
        store.saveTimedOut($0, now: loop.now)
    }
    private var timer: LoopTimer?

    init(
        loop: EventLoop, log: Logger, times: ActivityTimes, payloadLimit: Int, wallClock: any WallClock,
        core: DaemonCore
    ) {
        self.loop = loop
        self.log = log
        refusals = PacedLog(loop: loop, log: log)
        self.times = times
        self.payloadLimit = payloadLimit
        self.wallClock = wallClock
        self.core = core
        store = ActivityStore(refreshInterval: times.refresh, lifetime: times.lifetime)
    }

    /// Reduces the rate of save requests to save power, or restores it.
    func setSavesPower(_ savesPower: Bool) {
        store.savesPower = savesPower
        rearm()
    }

    /// Applies a new configuration of times, also to existing activities.
    func take(_ times: ActivityTimes) {
        self.times = times
        saves.timeout = times.saveAnswer
        store.usualInterval = times.refresh
        store.lifetime = times.lifetime
        rearm()
    }

    /// The times that apply to activities.
    struct ActivityTimes {
        /// The timeout of a save request.
        let saveAnswer: Duration
        /// The interval between periodic save requests.
        let refresh: Duration
        /// The time for which an activity without an expiration date stays on offer without an
        /// update; nil: without limit.
        let lifetime: Duration?
    }

    /// Handles a call of the app interface.
    func handle(_ method: AppMethod, _ call: ControlCall) {
        do {
            switch method {
            case .attach: try attach(call)
            case .declare: try declare(call)
            case .publish: try publish(call)
            case .update: try change(call, answersSave: false)
            case .becomeCurrent: try becomeCurrent(call)
            case .resignCurrent: try resign(call)
            case .invalidate: try invalidate(call)
            case .answerSave: try change(call, answersSave: true)
            case .answerContinue: try answerContinue(call)
            case .reportReceived: try reportReceived(call)
            case .reportProgress: try reportProgress(call)
            case .openStream: try core?.streams.open(call)
            case .passFile: try core?.streams.passFile(call)
            case .shareMemory: try core?.streams.shareMemory(call)
            case .awaitStream: try core?.streams.await(call)
            case .keepContent: try keepContent(call)
            case .readContent: try core?.keptOffers.read(call)
            }
        } catch {
            call.fail(error)
        }
    }

    /// The local offers, most recent first, without those of disabled apps.
    func offers() -> [LocalOffer] {
        store.offers(now: loop.now).filter { offered($0.activity.id) != nil }
    }

    /// Everything that apps and tools have published, for display.
    func publications() -> [PublishedActivity] {
        let now = loop.now
        return store.all.map { activity in
            let app = registry.session(activity.session)?.app ?? ""
            let reason: String? =
                if let restriction = core?.restriction(of: app) {
                    restriction
                } else if activity.offer == nil {
                    "it is not current"
                } else if !activity.content.isEligibleForHandoff {
                    "its app restricts it to this device"
                } else {
                    core?.restriction(of: activity.content.type, to: activity.recipient)
                }
            let age = activity.offer.map { Double($0.since.duration(to: now).components.seconds) }
            return PublishedActivity(
                id: activity.offer?.id ?? activity.id, type: activity.content.type, title: activity.content.title,
                app: app.isEmpty ? nil : app, to: activity.recipient, offered: reason == nil, reason: reason, age: age,
                continued: core?.handover.lastContinuation(of: activity.id))
        }
    }

    /// Ends the activity with an id of `publications`, and notifies its publisher.
    func withdraw(_ id: ActivityID) throws(ActivityStore.Refusal) {
        let id = store.offered(id)?.id ?? id
        core?.keeping.withdraw(id)
        apply(try store.withdraw(id))
        core?.streams.activityWithdrawn(id)
    }

    /// Ends the activities that were sent to devices that are no longer in the account, and notifies
    /// their publishers.
    func accountChanged(live: Set<DeviceID>) {
        for activity in store.all {
            guard let recipient = activity.recipient, !live.contains(recipient),
                let effects = try? store.withdraw(activity.id)
            else { continue }
            log.notice("Withdrew an activity that was sent to a removed device", ["device": recipient.short])
            apply(effects)
        }
    }

    /// The wall clock in seconds since 2001-01-01 UTC, the epoch of the dates of activities.
    private var appleSeconds: Double { wallClock.secondsSince1970 - 978_307_200 }

    private func isEnabled(_ app: String) -> Bool { core?.isEnabled(app) ?? false }

    /// Returns the activity on offer under an id.
    func offered(_ offer: ActivityID) -> LocalActivity? {
        guard let activity = store.offered(offer) else { return nil }
        return isEnabled(registry.session(activity.session)?.app ?? "") ? activity : nil
    }

    /// Returns the activity on offer under an id if it is visible to the device.
    func offered(_ offer: ActivityID, to device: DeviceID) -> LocalActivity? {
        offered(offer).flatMap { $0.recipient == nil || $0.recipient == device ? $0 : nil }
    }

    /// Requests a save from the owner of an activity if it has unsaved changes. Calls `completion`
    /// when the owner has answered, the request has timed out, or the activity has been resigned or
    /// has ended; immediately if no request is pending.
    ///
    /// - Parameter isForUser: whether another device waits for the state.
    func save(_ id: ActivityID, isForUser: Bool, completion: @escaping () -> Void) {
        apply(store.requestSave(of: id, now: loop.now, isForUser: isForUser))
        guard store.activity(id)?.saveRequested != nil else { return completion() }
        saves.begin(id, completion: completion)
    }

    /// Requests a save from the owner of an activity before other devices keep it, unless its state
    /// must not be read while none continues it.
    func saveForKeeping(_ id: ActivityID, completion: @escaping () -> Void) {
        guard store.activity(id)?.savesOnContinue == false else { return completion() }
        save(id, isForUser: false, completion: completion)
    }

    /// Notifies the owner of an activity that a device continued it.
    ///
    /// - Parameter offer: the offer that was continued. What the app has declared for that case applies
    ///   only if it is still on offer.
    /// - Parameter time: the time of the continuation in seconds since 1970, if it was earlier; nil
    ///   for now.
    func wasContinued(
        _ activity: LocalActivity, as offer: ActivityID, by origin: Origin, at time: UInt64? = nil
    ) {
        registry.session(activity.session)?.send(.continued(activity.id, by: origin, at: time.map { Double($0) }))
        if store.offered(offer) != nil { end(activity, afterwards: activity.afterwards) }
    }

    /// Ends an activity that was continued, or its offer, as its app has declared.
    private func end(_ activity: LocalActivity, afterwards: Afterwards) {
        let effects: [ActivityStore.Effect]?
        switch afterwards {
        case .stay: return
        // Without a notification: the app has declared it. The other device opens streams later.
        case .close where !activity.content.supportsStreams:
            effects = try? store.invalidate(activity.id, session: activity.session)
        case .close, .pause: effects = try? store.resign(activity.id, session: activity.session)
        }
        core?.keeping.withdraw(activity.id)
        apply(effects ?? [])
        saves.end(activity.id)
    }

    /// Notifies the owner of an activity that was sent to a device that the user of that device
    /// declined it.
    func wasDeclined(_ activity: LocalActivity, by origin: Origin) {
        registry.session(activity.session)?.send(.declined(activity.id, by: origin))
    }

    /// Notifies the owner of an activity that the device which continued it requests a stream.
    /// - Returns: false if the owner has disconnected.
    func announce(
        _ stream: StreamID, _ resource: StreamResource?, of activity: ActivityID, to session: SessionID,
        from origin: Origin
    ) -> Bool {
        guard store.activity(activity)?.session == session, let owner = registry.session(session) else { return false }
        owner.send(.stream(activity, stream, from: origin, resource: resource))
        return true
    }

    /// Handles what is due: periodic saves and expired activities.
    func advance() {
        apply(store.advance(now: loop.now, wallClock: appleSeconds))
    }

    /// Handles the upcoming sleep of the machine, or its end.
    func setAsleep(_ isAsleep: Bool) {
        if isAsleep { store.suspend() } else { store.resume(now: loop.now) }
        rearm()
    }

    private func attach(_ call: ControlCall) throws {
        guard call.wantsMore else { throw CallError.expectedMore }
        let request = try AttachRequest(json: call.parameters)
        let types = try Self.checked(request.types, request.versions, call)
        // An app without an id could not be disabled.
        guard AppID(request.app) != nil else { throw CallError.invalidApp(request.app) }
        if Self.isReserved(request.app) {
            try Self.requireOwnProgram(call, for: "the id \(request.app)", as: request.app)
        }
        let claim = AppClaim(app: request.app, unit: call.client.group.unit)
        if case .refused(let actual) = claim {
            refusals.notice("Refused an app that claims the id of another app", ["app": request.app, "actual": actual])
            throw CallError.notThisApp(request.app, actual: actual)
        }
        let session = AppSession(
            id: Self.newSessionID(), app: request.app, version: request.version, team: request.team,
            types: types, versions: TypeVersions.ranges(request.versions), answersSaves: true,
            isVerified: claim == .verified,
            order: registry.nextOrder(), call: call)
        add(session, call)
        session.send(.attached(session: session.id))
        log.debug("App attached", ["app": session.app, "types": "\(session.types.count)"])
        if !session.types.isEmpty { core?.handlersChanged() }
        if isEnabled(session.app) { core?.sessionContinues(session) }
    }

    private func declare(_ call: ControlCall) throws {
        let request = try DeclareRequest(json: call.parameters)
        let session = try self.session(request.session)
        let types = try Self.checked(request.types, request.versions, call)
        call.reply([:])
        session.versions = TypeVersions.ranges(request.versions)
        guard session.types != types else { return }
        session.types = types
        log.debug("App declared types", ["app": session.app, "types": "\(types.count)"])
        core?.handlersChanged()
        if isEnabled(session.app) { core?.sessionContinues(session) }
    }

    private static func checked(
        _ types: [ActivityType], _ versions: [TypeVersions]?, _ call: ControlCall
    ) throws -> Set<ActivityType> {
        guard types.count <= maxTypes, versions?.count ?? 0 <= maxTypes else {
            throw CallError.limit("types", "an app can declare at most \(maxTypes) types")
        }
        if let type = types.first(where: { isReserved($0.text) }) {
            try requireOwnProgram(call, for: "the type \(type.text)", as: type.text)
        }
        return Set(types)
    }

    /// Returns whether an id or type is reserved for Handoff's programs, such as
    /// `dev.handoff1.content` for files and folders.
    private static func isReserved(_ name: String) -> Bool { name.utf8.starts(with: "dev.handoff1.".utf8) }

    /// Refuses an operation to all but the programs of Handoff. They use the control socket, which
    /// is not available in a sandbox.
    private static func requireOwnProgram(_ call: ControlCall, for what: String, as name: String) throws(CallError) {
        guard call.client.role == .control else { throw .reserved(name, "\(what) is reserved for Handoff's programs") }
    }

    private func add(_ session: AppSession, _ call: ControlCall) {
        registry.add(session)
        call.onClosed = { [self] in end(session) }
    }

    private func end(_ session: AppSession) {
        core?.keeping.keepNow(store.activities(of: session.id).compactMap(store.activity))
        registry.remove(session.id)
        let mine = store.activities(of: session.id)
        apply(store.endSession(session.id))
        for id in mine { saves.end(id) }
        core?.sessionEnded(session)
        if !session.types.isEmpty { core?.handlersChanged() }
        log.debug("App detached", ["app": session.app])
    }

    private func publish(_ call: ControlCall) throws {
        let fields = Fields(call.parameters)
        let description = try fields.value("activity", as: ActivityDescription.self)
        if let session = try fields.optionalText("session") {
            let session = try self.session(session)
            let (id, advice) = try publish(
                description, as: session, needsSave: description.needsSave ?? true)
            call.reply(AppEvent.published(id, advice: advice).json)
        } else {
            guard call.wantsMore else { throw CallError.expectedMore }
            let session = AppSession(
                id: Self.newSessionID(), app: "", version: nil, team: nil, types: [], answersSaves: false,
                isVerified: false,
                order: registry.nextOrder(), call: call)
            let (id, advice) = try publish(description, as: session, needsSave: false)
            add(session, call)
            session.send(.published(id, advice: advice))
            apply(try store.becomeCurrent(id, session: session.id, offer: id, now: loop.now))
        }
    }

    private func publish(
        _ description: ActivityDescription, as session: AppSession, needsSave: Bool
    ) throws -> (ActivityID, advice: String?) {
        let content = try description.content(sessionTeam: session.team).withoutLocalPaths
        let recipient = try description.to.map { try self.recipient($0, in: session) }
        let bytes = try content.validate(origin: session.origin, maxPayload: Limits.payloadMaximum)
        let id = Self.newActivityID()
        apply(
            try store.publish(
                content, id: id, session: session.id, group: session.group, origin: session.origin,
                needsSave: needsSave, answersSaves: session.answersSaves,
                savesOnContinue: description.savesOnContinue ?? false, keeping: KeepRule(description.keep),
                afterwards: description.afterwards ?? .stay, recipient: recipient, bytes: bytes))
        // A file that it has is checked when the first part of it arrives.
        let mayBeKept = recipient != nil && KeepRule(description.keep) == .afterEnd
        let notKept = mayBeKept ? core?.activityCopier.refusal(ofFile: 0, for: id) : nil
        return (id, advice.words(bytes: bytes, content, isSaved: !needsSave, notKept: notKept))
    }

    /// `KeepContent`.
    private func keepContent(_ call: ControlCall) throws {
        let fields = Fields(call.parameters)
        let (session, id) = try owner(fields)
        guard let core, let activity = store.activity(id), activity.session == session.id,
            activity.recipient != nil
        else { throw ActivityStore.Refusal.unknown(id) }
        let request = try KeepContentRequest(json: call.parameters)
        if request.offset == 0, let reason = core.activityCopier.refusal(ofFile: request.size, for: id) {
            throw CallError.limit("kept", reason)
        }
        let isComplete = try store.keepContent(
            id, session: session.id, name: request.name, size: request.size, offset: request.offset, request.bytes ?? []
        )
        guard let isComplete else { throw VarlinkError.invalidParameter("offset") }
        call.reply([:])
        if isComplete, activity.offer != nil { core.keeping.keepNow([store.activity(id)].compactMap(\.self)) }
    }

    /// The device that an activity is sent to. Never nil, because nil would offer it to all.
    private func recipient(_ text: String, in session: AppSession) throws -> DeviceID {
        // While the daemon stops, the publisher must not take this for a refusal of the activity.
        guard let core else { throw CallError.noSuchSession(session.id) }
        return try core.recipient(text)
    }

    /// `Update` and `AnswerSave`: applies a change, and replies with advice for the developer.
    private func change(_ call: ControlCall, answersSave: Bool) throws {
        let fields = Fields(call.parameters)
        // An app that has saved may have nothing to change.
        let given = try answersSave ? fields.optional("change") : fields.value("change", as: ActivityChange.self)
        let change = given ?? ActivityChange()
        let (session, id) = try owner(fields)
        guard let activity = store.activity(id), activity.session == session.id else {
            throw ActivityStore.Refusal.unknown(id)
        }
        let content = change.applied(to: activity.content).withoutLocalPaths
        let bytes = try content.validate(origin: activity.origin, maxPayload: Limits.payloadMaximum)
        let effects = try store.update(
            id, session: session.id, content: content, needsSave: change.needsSave, answersSave: answersSave,
            keeping: change.keep.map { KeepRule($0) }, bytes: bytes, now: loop.now)
        if answersSave {
            // First, because another device waits for it.
            saves.end(id)
            session.send(.saved(id))
        }
        apply(effects)
        core?.keeping.review()
        if change.keep == true { core?.keeping.keepNow([store.activity(id)].compactMap(\.self)) }
        let isSaved = answersSave || !(store.activity(id)?.needsSave ?? false)
        let words = advice.words(bytes: bytes, content, isSaved: isSaved)
        call.reply(["advice": words.map { .string($0) } ?? .null])
    }

    private func becomeCurrent(_ call: ControlCall) throws {
        let (session, id) = try owner(Fields(call.parameters))
        let offer = store.activity(id)?.wasOffered ?? false ? Self.newActivityID() : id
        core?.keeping.keepNow(store.activities(of: session.id).filter { $0 != id }.compactMap(store.activity))
        let effects = try store.becomeCurrent(id, session: session.id, offer: offer, now: loop.now)
        call.reply([:])
        apply(effects)
        // An item that was sent waits for its recipient on the other devices, too.
        if let activity = store.activity(id), activity.recipient != nil { core?.keeping.keepNow([activity]) }
    }

    private func resign(_ call: ControlCall) throws {
        let (session, id) = try owner(Fields(call.parameters))
        core?.keeping.keepNow([store.activity(id)].compactMap(\.self))
        let effects = try store.resign(id, session: session.id)
        call.reply([:])
        apply(effects)
        saves.end(id)
    }

    private func invalidate(_ call: ControlCall) throws {
        let fields = Fields(call.parameters)
        let (session, id) = try owner(fields)
        let keepsStreams = try fields.isSet("keepStreams")
        let effects = try store.invalidate(id, session: session.id)
        core?.keeping.withdraw(id)
        call.reply([:])
        apply(effects)
        saves.end(id)
        if !keepsStreams { core?.streams.activityWithdrawn(id) }
    }

    private func answerContinue(_ call: ControlCall) throws {
        let fields = Fields(call.parameters)
        let session = try self.session(try fields.text("session"))
        let text = try fields.text("continuation")
        let handled: Bool = try fields.value("handled")
        let failure = try fields.optionalText("failure")
        guard failure?.utf8.count ?? 0 <= ReportReceivedRequest.maxText else {
            throw VarlinkError.invalidParameter("failure")
        }
        guard let id = ContinuationID(hex: text),
            core?.answered(id, by: session.id, handled: handled, failure: failure) ?? false
        else {
            throw CallError.noSuchContinuation(text)
        }
        call.reply([:])
    }

    private func reportReceived(_ call: ControlCall) throws {
        let report = try ReportReceivedRequest(json: call.parameters)
        let session = try self.session(report.session)
        // The user can open the reported path, so an app in a sandbox must not choose it.
        try Self.requireOwnProgram(call, for: "a report of a received file", as: session.app)
        if let end = report.end {
            core?.received(report.activity, from: report.device, by: session.app, end)
        }
        call.reply([:])
    }

    private func reportProgress(_ call: ControlCall) throws {
        let report = try ReportProgressRequest(json: call.parameters)
        let session = try self.session(report.session)
        try Self.requireOwnProgram(call, for: "a report of progress", as: session.app)
        call.reply((core?.progressed(report, by: session.app) ?? ReportProgressReply()).json)
    }

    private func owner(_ fields: Fields) throws -> (AppSession, ActivityID) {
        let session = try self.session(try fields.text("session"))
        let text = try fields.text("activity")
        guard let id = ActivityID(hex: text) else { throw CallError.noSuchActivity(text) }
        return (session, id)
    }

    private func session(_ id: SessionID) throws -> AppSession {
        guard let session = registry.session(id) else { throw CallError.noSuchSession(id) }
        return session
    }

    private func apply(_ effects: [ActivityStore.Effect]) {
        for effect in effects {
            switch effect {
            case .requestSave(let id, let isForUser):
                guard let activity = store.activity(id) else { continue }
                registry.session(activity.session)?.send(.save(id, isForUser: isForUser))
                saves.begin(id)
            case .offersChanged:
                core?.ownOffersChanged()
            case .withdrawn(let id, let session):
                registry.session(session)?.send(.withdrawn(id))
                saves.end(id)
            }
        }
        rearm()
    }

    private func rearm() {
        guard let wait = store.nextDeadline(now: loop.now, wallClock: appleSeconds) else {
            timer = nil
            return
        }
        if let timer { return timer.rearm(after: wait) }
        timer = loop.timer(after: wait) { [unowned self] in advance() }
    }

    private var advice: ActivityAdvice { ActivityAdvice(payloadLimit: payloadLimit) }

    private static func newSessionID() -> SessionID { Hex.encode(Randomness.bytes(16)) }

    private static func newActivityID() -> ActivityID {
        ActivityID(checked: Randomness.bytes(ActivityID.byteCount))
    }
}
