public import Dispatch
import Foundation
import HandoffControl
public import HandoffKit
import HandoffModel
import LoopIO

/// A device that is played. Everything may be called from any thread.
public final class LoopbackDevice: Sendable {
    /// What it is called.
    public let name: String
    /// The socket at which apps find it: for `HandoffConfiguration.socketPath`, or `$HANDOFF_SOCKET` of another program.
    public let socketPath: String
    private let core: LoopbackCore

    init(name: String, socketPath: String, core: LoopbackCore) {
        self.name = name
        self.socketPath = socketPath
        self.core = core
    }

    // MARK: Apps

    /// A new app at this device; let go of it to end it.
    /// - Parameters:
    ///   - identifier: what it calls itself.
    ///   - version: its version.
    ///   - teamIdentifier: its team: activities are handed off between apps of one team only.
    ///   - activityTypes: what it continues.
    ///   - callbackQueue: where what belongs to no actor is called; see `HandoffApplication`.
    public func application(
        _ identifier: String = "app", version: String? = nil, teamIdentifier: String? = nil,
        activityTypes: [String] = [], callbackQueue: DispatchQueue = .main
    ) -> HandoffApplication {
        HandoffApplication(
            configuration: HandoffConfiguration(
                identifier: identifier, version: version, teamIdentifier: teamIdentifier, activityTypes: activityTypes,
                socketPath: socketPath), callbackQueue: callbackQueue)
    }

    /// Brings an app to this device, such as `HandoffApplication.shared`.
    public func attach(_ application: HandoffApplication) {
        application.configuration.socketPath = socketPath
    }

    // MARK: Continuing

    /// What the other devices offer here now, as it was saved last.
    public var offers: [LoopbackActivity] {
        onDevice { network, device in network.offers(at: device).map { LoopbackActivity($0.content) } } ?? []
    }

    /// Waits until another device offers an activity of a type.
    /// - Parameters:
    ///   - activityType: the type.
    ///   - origin: the name of the device; nil for any.
    ///   - limit: how long to wait.
    /// - Returns: the activity, as it was saved last.
    /// - Throws: `HandoffError` with the reason `nothingOffered`.
    @discardableResult
    public func offer(
        of activityType: String, from origin: String? = nil, within limit: Duration = .seconds(5)
    ) async throws -> LoopbackActivity {
        let name = name
        return try await later { network, device, then in
            network.wait(limit) {
                guard let offer = network.offer(of: activityType, from: origin, at: device) else { return false }
                then(.success(LoopbackActivity(offer.content)))
                return true
            } timedOut: {
                then(.failure(HandoffError.nothingOffered(activityType, at: name, within: limit)))
            }
        }
    }

    /// The user chooses here what another device offers: the app here that takes the type continues it. Waits until there are both.
    /// - Parameters:
    ///   - activityType: the type.
    ///   - origin: the name of the device that it comes from; nil for any.
    ///   - limit: how long to wait for the offer and the app.
    /// - Returns: what the app was given, once it has taken it over.
    /// - Throws: `HandoffError`, as the app was told it.
    @discardableResult
    public func `continue`(
        _ activityType: String, from origin: String? = nil, within limit: Duration = .seconds(5)
    ) async throws -> LoopbackActivity {
        let name = name
        return try await later { network, device, then in
            network.wait(limit) {
                guard let offer = network.offer(of: activityType, from: origin, at: device),
                    let session = device.session(taking: offer.content)
                else { return false }
                network.begin(PlayedContinuation(offer, at: device, by: session, network: network, Self.ending(then)))
                return true
            } timedOut: {
                let isOffered = network.offer(of: activityType, from: origin, at: device) != nil
                let type = ActivityType(activityType) ?? .browsingWeb
                then(
                    .failure(
                        isOffered
                            ? HandoffError(.noHandler(type: type, cause: "no app at \(name) continues it"))
                            : HandoffError.nothingOffered(activityType, at: name, within: limit)))
            }
        }
    }

    /// Continues here, without an app, what another device offers: the app there is told that it was continued.
    /// - Returns: the activity, which its app was asked to save before.
    /// - Throws: `HandoffError`.
    public func take(
        _ activityType: String, from origin: String? = nil, within limit: Duration = .seconds(5)
    ) async throws -> LoopbackActivity {
        let name = name
        return try await later { network, device, then in
            network.wait(limit) {
                guard let offer = network.offer(of: activityType, from: origin, at: device) else { return false }
                network.begin(PlayedContinuation(offer, at: device, by: nil, network: network, Self.ending(then)))
                return true
            } timedOut: {
                then(.failure(HandoffError.nothingOffered(activityType, at: name, within: limit)))
            }
        }
    }

    /// Gives an activity to the app here that takes its type, as if it came from another device. Waits until there is one.
    /// - Parameters:
    ///   - activity: what the app gets.
    ///   - origin: the name of the device from which it seems to come.
    ///   - limit: how long to wait for the app.
    /// - Throws: `HandoffError`, as the app was told it.
    public func hand(
        _ activity: LoopbackActivity, from origin: String = "Partner", within limit: Duration = .seconds(5)
    ) async throws {
        let content = try checked(activity)
        let (name, folder) = (name, core.folder)
        let _: LoopbackActivity = try await later { network, device, then in
            guard let partner = try? network.device(origin, in: folder) else { return }
            let offer = PlayedOffer(device: partner, session: nil, id: .random, content: content)
            network.wait(limit) {
                guard let session = device.session(taking: content) else { return false }
                network.begin(PlayedContinuation(offer, at: device, by: session, network: network, Self.ending(then)))
                return true
            } timedOut: {
                then(
                    .failure(HandoffError(.noHandler(type: content.type, cause: "no app at \(name) continues it"))))
            }
        }
    }

    // MARK: Offering without an app

    /// Offers an activity to the other devices, without an app here, until `withdraw`; in the place of the one before.
    /// - Throws: `HandoffError` for what no device takes.
    public func publish(_ activity: LoopbackActivity) throws {
        let content = try checked(activity)
        onDevice { _, device in device.offer(content) }
    }

    /// Ends what `publish` began.
    public func withdraw() {
        onDevice { _, device in device.offer(nil) }
    }

    // MARK: What goes wrong

    /// How long what this device offers is on its way; none at first.
    public var delay: Duration {
        get { onDevice { _, device in device.delay } ?? .zero }
        set { onDevice { _, device in device.delay = newValue } }
    }

    /// Cuts the device off: its offers are gone, what is on its way from or to it fails with error 4609, and its streams break.
    public func cut() {
        onDevice { _, device in device.cut(true) }
    }

    /// Ends `cut`.
    public func mend() {
        onDevice { _, device in device.cut(false) }
    }

    /// Has the next continuation of what this device offers fail, after the app was told that it comes.
    /// - Parameter error: what the app is told: its code, its reason and its message.
    public func failNext(_ error: HandoffError) {
        let failure = HandoffFailure(code: error.code, reason: error.reason, message: error.message)
        onDevice { _, device in device.failures.append(failure) }
    }

    /// Ends the daemon of this device: its apps lose their connection, and try to attach until `start`.
    public func stop() {
        onDevice { _, device in device.stop() }
    }

    /// Starts the daemon again.
    /// - Throws: when its socket cannot be made.
    public func start() throws {
        let (name, folder) = (name, core.folder)
        try core.perform { try $0.device(name, in: folder).start() }
    }

    // MARK: Inside

    private func checked(_ activity: LoopbackActivity) throws -> ActivityContent {
        do throws(ActivityError) {
            return try activity.content()
        } catch {
            throw HandoffError(code: error.code, reason: "invalidActivity", message: "\(error)")
        }
    }

    @discardableResult
    private func onDevice<Value: Sendable>(
        _ body: @escaping @Sendable (PlayedNetwork, PlayedDevice) -> Value
    ) -> Value? {
        let (name, folder) = (name, core.folder)
        // It is there: it was made before this object.
        return try? core.perform { body($0, try $0.device(name, in: folder)) }
    }

    private func later<Value: Sendable>(
        _ body:
            @escaping @Sendable (PlayedNetwork, PlayedDevice, @escaping @Sendable (Result<Value, any Error>) -> Void)
            -> Void
    ) async throws -> Value {
        let (name, folder) = (name, core.folder)
        return try await core.perform { network, then in
            do {
                body(network, try network.device(name, in: folder), then)
            } catch {
                then(.failure(error))
            }
        }
    }

    private static func ending(
        _ then: @escaping @Sendable (Result<LoopbackActivity, any Error>) -> Void
    ) -> PlayedContinuation.Ending {
        { result in
            switch result {
            case .success(let continued): then(.success(LoopbackActivity(continued)))
            case .failure(let failure): then(.failure(HandoffError(failure)))
            }
        }
    }
}

extension LoopbackActivity {
    init(_ continued: ContinuedActivity) {
        var content = ActivityContent(type: continued.type)
        content.title = continued.title
        content.userInfo = continued.userInfo
        content.webpageURL = continued.webpageURL
        content.team = continued.team
        content.requiredUserInfoKeys = continued.requiredUserInfoKeys
        content.supportsStreams = continued.streams
        content.targetContentIdentifier = continued.targetContentIdentifier
        self.init(content)
    }
}

extension PlayedNetwork {
    /// The first offer of a type at a device.
    func offer(of type: String, from origin: String?, at device: PlayedDevice) -> PlayedOffer? {
        offers(at: device).first { $0.content.type.text == type && (origin == nil || $0.device.name == origin) }
    }
}

extension HandoffError {
    static func nothingOffered(_ type: String, at name: String, within limit: Duration) -> HandoffError {
        HandoffError(
            code: HandoffFailure.failedCode, reason: "nothingOffered",
            message: "no device has offered \(type) to \(name) within \(limit)")
    }
}
