public import Dispatch
import Foundation
import HandoffControl
public import HandoffKit
import HandoffModel
import LoopIO

/// A simulated device. Thread-safe.
public final class LoopbackDevice: Sendable {
    /// The name of the device.
    public let name: String
    /// The socket for apps: for `HandoffApplication.Configuration.socketPath`, or `$HANDOFF_SOCKET` of another
    /// program.
    public let socketPath: String
    private let core: LoopbackCore

    init(name: String, socketPath: String, core: LoopbackCore) {
        self.name = name
        self.socketPath = socketPath
        self.core = core
    }

    // MARK: Apps

    /// Creates an app on this device. Release it to end it.
    /// - Parameters:
    ///   - identifier: the app's identifier.
    ///   - version: the app's version.
    ///   - teamIdentifier: the app's team. Activities are handed off only between apps of the same
    ///     team.
    ///   - activityTypes: the types that the app continues.
    ///   - callbackQueue: the queue for nonisolated callbacks; see `HandoffApplication`.
    public func application(
        _ identifier: String = "app", version: String? = nil, teamIdentifier: String? = nil,
        activityTypes: [String] = [], callbackQueue: DispatchQueue = .main
    ) -> HandoffApplication {
        HandoffApplication(
            configuration: HandoffApplication.Configuration(
                identifier: identifier, version: version, teamIdentifier: teamIdentifier, activityTypes: activityTypes,
                socketPath: socketPath), callbackQueue: callbackQueue)
    }

    /// Connects an app to this device, such as `HandoffApplication.shared`.
    public func attach(_ application: HandoffApplication) {
        application.configuration.socketPath = socketPath
    }

    // MARK: Continuing

    /// The current offers of the other devices, as last saved.
    public var offers: [LoopbackActivity] {
        onDevice { network, device in network.offers(at: device).map { LoopbackActivity($0.content) } } ?? []
    }

    /// Waits until another device offers an activity of a type.
    /// - Parameters:
    ///   - activityType: the type.
    ///   - origin: the name of the offering device; nil for any.
    ///   - limit: the maximum time to wait.
    /// - Returns: the activity, as last saved.
    /// - Throws: `HandoffError` with the reason `nothingOffered`.
    @discardableResult
    public func offer(
        of activityType: String, from origin: String? = nil, within limit: Duration = .seconds(30)
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

    /// Continues, on this device, an activity that another device offers, in the app that continues
    /// the type. Waits until both exist.
    /// - Parameters:
    ///   - activityType: the type.
    ///   - origin: the name of the offering device; nil for any.
    ///   - limit: the maximum time to wait for the offer and the app.
    /// - Returns: the activity that the app received, after the app has handled it.
    /// - Throws: the `HandoffError` that the app received.
    @discardableResult
    public func `continue`(
        _ activityType: String, from origin: String? = nil, within limit: Duration = .seconds(30)
    ) async throws -> LoopbackActivity {
        let name = name
        return try await later { network, device, then in
            network.wait(limit) {
                guard let offer = network.offer(of: activityType, from: origin, at: device),
                    let session = device.session(taking: offer.content)
                else { return false }
                network.begin(
                    SimulatedContinuation(offer, at: device, by: session, network: network, Self.ending(then)))
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

    /// Continues, on this device and without an app, an activity that another device offers. The
    /// publishing app is notified.
    /// - Returns: the activity, after a save by its app.
    /// - Throws: `HandoffError`.
    public func take(
        _ activityType: String, from origin: String? = nil, within limit: Duration = .seconds(30)
    ) async throws -> LoopbackActivity {
        let name = name
        return try await later { network, device, then in
            network.wait(limit) {
                guard let offer = network.offer(of: activityType, from: origin, at: device) else { return false }
                network.begin(SimulatedContinuation(offer, at: device, by: nil, network: network, Self.ending(then)))
                return true
            } timedOut: {
                then(.failure(HandoffError.nothingOffered(activityType, at: name, within: limit)))
            }
        }
    }

    /// Hands an activity to the app on this device that continues its type, as if another device
    /// had sent it. Waits until there is such an app.
    /// - Parameters:
    ///   - activity: the activity for the app.
    ///   - origin: the name of the apparent sending device.
    ///   - limit: the maximum time to wait for the app.
    /// - Throws: the `HandoffError` that the app received.
    public func hand(
        _ activity: LoopbackActivity, from origin: String = "Partner", within limit: Duration = .seconds(30)
    ) async throws {
        let content = try checked(activity)
        let (name, folder) = (name, core.folder)
        let _: LoopbackActivity = try await later { network, device, then in
            guard let partner = try? network.device(origin, in: folder) else { return }
            let offer = SimulatedOffer(device: partner, session: nil, id: .random, content: content)
            network.wait(limit) {
                guard let session = device.session(taking: content) else { return false }
                network.begin(
                    SimulatedContinuation(offer, at: device, by: session, network: network, Self.ending(then)))
                return true
            } timedOut: {
                then(
                    .failure(HandoffError(.noHandler(type: content.type, cause: "no app at \(name) continues it"))))
            }
        }
    }

    // MARK: Offering without an app

    /// Offers an activity to the other devices, without an app, until `withdraw`. Replaces the
    /// former one.
    /// - Throws: `HandoffError` if no device would accept it.
    public func publish(_ activity: LoopbackActivity) throws {
        let content = try checked(activity)
        onDevice { _, device in device.offer(content) }
    }

    /// Ends the offer of `publish`.
    public func withdraw() {
        onDevice { _, device in device.offer(nil) }
    }

    // MARK: Errors and delays

    /// The transfer time of activities that this device offers; initially zero.
    public var delay: Duration {
        get { onDevice { _, device in device.delay } ?? .zero }
        set { onDevice { _, device in device.delay = newValue } }
    }

    /// Disconnects the device from the network. Its offers are removed, its transfers in both
    /// directions fail with error 4609, and its streams break.
    public func cut() {
        onDevice { _, device in device.cut(true) }
    }

    /// Reconnects the device after `cut`.
    public func mend() {
        onDevice { _, device in device.cut(false) }
    }

    /// Makes the next continuation of an activity of this device fail, after the app was notified
    /// with `willContinue`.
    /// - Parameter error: the code, reason and message that the app receives.
    public func failNext(_ error: HandoffError) {
        let failure = HandoffFailure(code: error.code, reason: error.reason, message: error.message)
        onDevice { _, device in device.failures.append(failure) }
    }

    /// Ends the daemon of this device. Its apps are disconnected, and try to reconnect until
    /// `start`.
    public func stop() {
        onDevice { _, device in device.stop() }
    }

    /// Restarts the daemon.
    /// - Throws: an error if its socket cannot be created.
    public func start() throws {
        let (name, folder) = (name, core.folder)
        try core.perform { try $0.device(name, in: folder).start() }
    }

    // MARK: Internal

    private func checked(_ activity: LoopbackActivity) throws -> ActivityContent {
        do throws(ActivityError) {
            return try activity.content()
        } catch {
            throw HandoffError(code: error.code, reason: "invalidActivity", message: "\(error)")
        }
    }

    @discardableResult
    private func onDevice<Value: Sendable>(
        _ body: @escaping @Sendable (SimulatedNetwork, SimulatedDevice) -> Value
    ) -> Value? {
        let (name, folder) = (name, core.folder)
        // Does not fail: the device was created before this object.
        return try? core.perform { body($0, try $0.device(name, in: folder)) }
    }

    private func later<Value: Sendable>(
        _ body:
            @escaping @Sendable (
                SimulatedNetwork, SimulatedDevice, @escaping @Sendable (Result<Value, any Error>) -> Void
            )
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
    ) -> SimulatedContinuation.Ending {
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

extension SimulatedNetwork {
    /// Returns the first offer of a type at a device.
    func offer(of type: String, from origin: String?, at device: SimulatedDevice) -> SimulatedOffer? {
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
