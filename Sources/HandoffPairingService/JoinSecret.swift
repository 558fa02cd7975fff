import HandoffCrypto
import HandoffPairing
import LoopIO

/// What the user was given by the inviting device, and the passwords that were made of it. Lives on the daemon's loop.
final class JoinSecret {
    /// Digits or link.
    enum Given {
        case code(PairingCode)
        case link(PairingLink)
    }

    /// Salts whose passwords are kept: each inviter has one.
    private static let maxKept = PairingLimits().instances

    /// Digits or link.
    let given: Given
    private let worker: Worker
    private let loop: EventLoop
    /// A joiner that was cut comes back at once, without the 0.2 s of the first time.
    private var passwords: [PairingSalt: PairingPassword] = [:]

    /// - Parameter worker: where digits are worked upon.
    init(_ given: Given, worker: Worker, loop: EventLoop) {
        self.given = given
        self.worker = worker
        self.loop = loop
    }

    /// What stands before a ClientHello record: nothing without a link; nil when another record is needed.
    func token(clientHello: [UInt8]) -> [UInt8]? {
        switch given {
        case .code: []
        case .link(let link): link.token(clientHello: clientHello)
        }
    }

    /// The password for a salt; `completion` is called now or in a later turn, with nil if it cannot be made.
    func password(_ salt: PairingSalt, completion: @escaping (PairingPassword?) -> Void) {
        if let password = passwords[salt] { return completion(password) }
        switch given {
        case .link(let link): completion((try? PairingPassword(link: link, salt: salt)) ?? nil)
        case .code(let code):
            worker.run({ try PairingPassword(code: code, salt: salt) }, on: loop) { [weak self] result in
                guard let self else { return }
                let password = (try? result.get()) ?? nil
                if passwords.count >= Self.maxKept { passwords = [:] }
                passwords[salt] = password
                completion(password)
            }
        }
    }
}
