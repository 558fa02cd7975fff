import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
package import LoopIO

/// Calls to the user's desktop (`dev.handoff1.Desktop`), each over its own connection. Lives on the
/// daemon's loop.
///
/// The desktop service may exit, hang or be missing. Calls then fail, and subscriptions are renewed
/// after increasing delays.
package final class DesktopLink {
    /// Opens a connection.
    package typealias Opening = () throws(DesktopConnector.Problem) -> Descriptor

    /// The maximum time for a reply: an app is watched for 3 s, and the bus may take 10 s to start
    /// it.
    private static let timeout = Duration.seconds(30)

    /// A subscription that lasts until it is released.
    final class Following {
        fileprivate var client: ControlClient?
        fileprivate var timer: LoopTimer?
        fileprivate var backoff = Backoff.desktop

        deinit { stop() }

        /// Ends the subscription. Nothing is reported afterwards.
        func stop() {
            timer = nil
            client?.close()
            client = nil
        }
    }

    /// An update for a follower.
    enum News {
        /// A reply.
        case reply(JSONObject)
        /// The connection was lost or could not be made. It will be retried.
        case lost
        /// The desktop service is not installed.
        case missing
    }

    let loop: EventLoop
    private let log: Logger
    private let opening: Opening
    private var calls: [ObjectIdentifier: (client: ControlClient, timer: LoopTimer?)] = [:]
    /// True once a missing desktop service has been logged.
    private var hasLoggedMissing = false

    package init(loop: EventLoop, log: Logger, opening: @escaping Opening) {
        self.loop = loop
        self.log = log
        self.opening = opening
    }

    /// Makes a call that has one reply.
    ///
    /// - Parameter completion: Called once, not inside this call, with the reply or the reason why
    ///   there is none, for display.
    func call(
        _ method: DesktopMethod, _ parameters: JSONObject = [:],
        completion: @escaping (Result<JSONObject, Failure>) -> Void
    ) {
        let client: ControlClient
        do throws(DesktopConnector.Problem) {
            client = try connect()
        } catch {
            let failure = Failure(error)
            return loop.later { completion(.failure(failure)) }
        }
        let key = ObjectIdentifier(client)
        let timer = loop.timer(after: Self.timeout, accuracy: .seconds(1)) { [weak self] in
            self?.calls.removeValue(forKey: key)?.client.close()
            completion(.failure(Failure(message: "handoff-desktop did not reply in time")))
        }
        calls[key] = (client, timer)
        client.call(method.rawValue, parameters) { [weak self] result in
            let ended = self?.calls.removeValue(forKey: key)
            // Deferred, because the client must not be closed in its own handler.
            self?.loop.later { ended?.client.close() }
            completion(result.map(\.parameters).mapError(Failure.init))
        }
    }

    /// Follows a state: reports all replies to a call with `more`, and reconnects if the connection
    /// is lost.
    ///
    /// - Parameter report: Called from the loop, not inside this call, until the result is stopped
    ///   or released.
    func follow(_ method: DesktopMethod, _ report: @escaping (News) -> Void) -> Following {
        let following = Following()
        loop.later { [weak self, weak following] in
            if let following { self?.open(following, method, report) }
        }
        return following
    }

    /// Makes a call with `more` over one connection, without reconnecting.
    ///
    /// - Parameter report: Receives each reply and finally a failure, not inside this call.
    /// - Returns: The subscription, which keeps the connection.
    /// - Throws: The failure if there is no connection. Nothing is reported then.
    func hold(
        _ method: DesktopMethod, _ report: @escaping (Result<JSONObject, Failure>) -> Void
    ) throws(Failure) -> Following {
        let following = Following()
        do throws(DesktopConnector.Problem) {
            let client = try connect()
            following.client = client
            client.stream(method.rawValue) { report($0.map(\.parameters).mapError(Failure.init)) }
            return following
        } catch {
            throw Failure(error)
        }
    }

    private func open(_ following: Following, _ method: DesktopMethod, _ report: @escaping (News) -> Void) {
        do throws(DesktopConnector.Problem) {
            let client = try connect()
            following.client = client
            client.stream(method.rawValue) { [weak self, weak following] result in
                guard let self, let following else { return }
                switch result {
                case .success(let reply) where reply.continues:
                    following.backoff.reset()
                    report(.reply(reply.parameters))
                case .success: retry(following, method, "the stream ended", report)
                case .failure(let error): retry(following, method, Failure(error).message, report)
                }
            }
        } catch {
            guard error.isTransient else {
                logMissing()
                return report(.missing)
            }
            retry(following, method, Failure(error).message, report)
        }
    }

    private func retry(
        _ following: Following, _ method: DesktopMethod, _ reason: String, _ report: @escaping (News) -> Void
    ) {
        log.info("Lost the connection to handoff-desktop", ["method": method.rawValue, "reason": reason])
        let former = following.client
        following.client = nil
        // Deferred, because the client must not be closed in its own handler.
        loop.later { former?.close() }
        following.timer = loop.timer(after: following.backoff.next(), accuracy: .milliseconds(100)) {
            [weak self, weak following] in
            if let following { self?.open(following, method, report) }
        }
        report(.lost)
    }

    private func connect() throws(DesktopConnector.Problem) -> ControlClient {
        let descriptor = try opening()
        do throws(Errno) {
            return try ControlClient(descriptor, path: "handoff-desktop", loop: loop)
        } catch {
            throw .notReached(error)
        }
    }

    private func logMissing() {
        guard !hasLoggedMissing else { return }
        hasLoggedMissing = true
        log.notice("handoff-desktop is not installed: apps cannot be started, and notifications are not shown")
    }

    /// The reason why a call failed: a sentence fragment for display.
    struct Failure: Error, Sendable, Equatable {
        /// The error message.
        let message: String
    }
}

extension DesktopLink.Failure {
    init(_ problem: DesktopConnector.Problem) {
        switch problem {
        case .missing: message = "the program handoff-desktop is not installed"
        case .notReached(let error): message = "handoff-desktop cannot be reached: \(error)"
        }
    }

    init(_ error: ClientError) {
        switch error {
        case .notReachable(_, let reason): message = "handoff-desktop cannot be reached: \(reason)"
        case .foreign(_, let user): message = "the socket of handoff-desktop belongs to user \(user)"
        case .lost: message = "handoff-desktop exited without a reply"
        case .badAnswer(let problem): message = "invalid reply from handoff-desktop: \(problem)"
        case .refused(let refusal): message = refusal.message
        }
    }
}
