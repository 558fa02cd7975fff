import HandoffCrypto
import HandoffPairing
import LoopIO

/// The code or link that the user was given, and the passwords derived from it. Lives on the
/// daemon's loop.
final class JoinSecret {
    /// Digits or link.
    enum Given {
        case code(PairingCode)
        case link(PairingLink)
    }

    /// Maximum number of passwords kept. Each inviter has one salt.
    private static let maxKept = PairingLimits().instances

    /// Digits or link.
    let given: Given
    private let worker: Worker
    private let loop: EventLoop
    /// Passwords by salt, so that a retry after a lost connection avoids the 0.2 s of derivation.
    private var passwords: [PairingSalt: PairingPassword] = [:]

    /// - Parameter worker: derives passwords from digits.
    init(_ given: Given, worker: Worker, loop: EventLoop) {
        self.given = given
        self.worker = worker
        self.loop = loop
    }

    /// The bytes before a ClientHello record: empty without a link, or nil if another record is
    /// needed.
    func token(clientHello: [UInt8]) -> [UInt8]? {
        switch given {
        case .code: []
        case .link(let link): link.token(clientHello: clientHello)
        }
    }

    /// Derives the password for a salt. Calls `completion` now or in a later turn, with nil on
    /// failure.
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
