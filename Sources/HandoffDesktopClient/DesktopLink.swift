import HandoffClient
package import HandoffControl
package import HandoffJSON
package import HandoffLog
package import LoopIO
import Timing

/// Calls to the user's desktop (`dev.handoff1.Desktop`), each over a connection of its own. Lives on the daemon's loop.
///
/// Whoever is at the other end may die, hang or be missing: a call then fails, and what is followed is followed again after a
/// while, which grows.
package final class DesktopLink {
    /// Makes a connection.
    package typealias Opening = () throws(DesktopConnector.Problem) -> Descriptor

    /// How long an answer may take: an app is watched for 3 s, and the bus may take ten to start it.
    private static let timeout = Duration.seconds(30)

    /// Something that is followed until it is let go.
    package final class Following {
        fileprivate var client: ControlClient?
        fileprivate var timer: LoopTimer?
        fileprivate var backoff = Backoff.desktop

        deinit { stop() }

        /// Ends it; nothing is told any more.
        package func stop() {
            timer = nil
            client?.close()
            client = nil
        }
    }

    /// What whoever follows something is told.
    package enum News {
        /// A reply.
        case reply(JSONObject)
        /// The connection is lost, or could not be made; it is tried again.
        case lost
        /// There is nobody who could be asked, now or later.
        case missing
    }

    private let loop: EventLoop
    private let log: Logger
    private let opening: Opening
    private var calls: [ObjectIdentifier: (client: ControlClient, timer: LoopTimer?)] = [:]
    /// Whether it was said that there is nobody.
    private var hasSaidMissing = false

    package init(loop: EventLoop, log: Logger, opening: @escaping Opening) {
        self.loop = loop
        self.log = log
        self.opening = opening
    }

    /// Makes a call that has one reply.
    ///
    /// - Parameter completion: called once, and not inside this call: with the reply, or why there is none, for people.
    package func call(
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
            completion(.failure(Failure(message: "handoff-desktop does not answer")))
        }
        calls[key] = (client, timer)
        client.call(method.rawValue, parameters) { [weak self] result in
            let ended = self?.calls.removeValue(forKey: key)
            // Not inside its own handler.
            self?.loop.later { ended?.client.close() }
            completion(result.map(\.parameters).mapError(Failure.init))
        }
    }

    /// Follows something: all replies to a call with `more`, over one connection after the other.
    ///
    /// - Parameter tell: called from the loop, and not inside this call, until what is returned is stopped or let go.
    package func follow(_ method: DesktopMethod, _ tell: @escaping (News) -> Void) -> Following {
        let following = Following()
        loop.later { [weak self, weak following] in
            if let following { self?.open(following, method, tell) }
        }
        return following
    }

    /// Makes a call with `more` over one connection, and does not make it again.
    ///
    /// - Parameter tell: gets each reply, and at last a failure; not inside this call.
    /// - Returns: what keeps the connection; nil when there is none, and nothing is told.
    package func hold(
        _ method: DesktopMethod, _ tell: @escaping (Result<JSONObject, Failure>) -> Void
    ) throws(Failure) -> Following {
        let following = Following()
        do throws(DesktopConnector.Problem) {
            let client = try connect()
            following.client = client
            client.stream(method.rawValue) { tell($0.map(\.parameters).mapError(Failure.init)) }
            return following
        } catch {
            throw Failure(error)
        }
    }

    private func open(_ following: Following, _ method: DesktopMethod, _ tell: @escaping (News) -> Void) {
        do throws(DesktopConnector.Problem) {
            let client = try connect()
            following.client = client
            client.stream(method.rawValue) { [weak self, weak following] result in
                guard let self, let following else { return }
                switch result {
                case .success(let reply) where reply.continues:
                    following.backoff.reset()
                    tell(.reply(reply.parameters))
                case .success: retry(following, method, "it ended", tell)
                case .failure(let error): retry(following, method, Failure(error).message, tell)
                }
            }
        } catch {
            guard error.isPassing else {
                sayMissing()
                return tell(.missing)
            }
            retry(following, method, Failure(error).message, tell)
        }
    }

    private func retry(
        _ following: Following, _ method: DesktopMethod, _ reason: String, _ tell: @escaping (News) -> Void
    ) {
        log.info("Lost the desktop", ["method": method.rawValue, "reason": reason])
        let former = following.client
        following.client = nil
        // Not inside its own handler.
        loop.later { former?.close() }
        following.timer = loop.timer(after: following.backoff.next(), accuracy: .milliseconds(100)) {
            [weak self, weak following] in
            if let following { self?.open(following, method, tell) }
        }
        tell(.lost)
    }

    private func connect() throws(DesktopConnector.Problem) -> ControlClient {
        let descriptor = try opening()
        do throws(Errno) {
            return try ControlClient(descriptor, path: "handoff-desktop", loop: loop)
        } catch {
            throw .notReached(error)
        }
    }

    private func sayMissing() {
        guard !hasSaidMissing else { return }
        hasSaidMissing = true
        log.notice("There is no handoff-desktop: no app is started, and nothing shown")
    }

    /// Why a call came to nothing: a fragment for people.
    package struct Failure: Error, Sendable, Equatable {
        /// What is wrong.
        package let message: String

        init(message: String) {
            self.message = message
        }

        init(_ problem: DesktopConnector.Problem) {
            switch problem {
            case .missing: message = "the program handoff-desktop is not installed"
            case .notReached(let error): message = "handoff-desktop cannot be reached: \(error)"
            }
        }

        init(_ error: ClientError) {
            switch error {
            case .notReachable(_, let reason): message = "handoff-desktop cannot be reached: \(reason)"
            case .foreign(_, let user): message = "user \(user) listens in the place of handoff-desktop"
            case .lost: message = "handoff-desktop ended before it had answered"
            case .badAnswer(let problem): message = "handoff-desktop answered wrongly: \(problem)"
            case .refused(let refusal): message = refusal.message
            }
        }
    }
}
