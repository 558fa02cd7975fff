import Glibc
package import HandoffTLS
package import LoopIO

/// Why no connection came about: what failed at each address, in the order in which it failed.
package struct DialError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What an attempt at one address was doing.
    package enum Stage: String, Sendable {
        /// Earlier attempts at the same address were not through its gate.
        case waiting
        /// TCP had no answer.
        case connecting
        /// TCP was connected, TLS not done.
        case handshake
    }

    /// What ended an attempt.
    package enum Cause: Error, Equatable, Sendable {
        /// TCP could not be connected.
        case connect(Errno)
        /// The connection ended before both sides were proved.
        case end(ConnectionEnd)
        /// TLS could not even be started.
        case tls(TLSError)
        /// The time for the whole call was over.
        case timedOut(Stage)
    }

    /// One address and what happened there.
    package struct Failure: Equatable, Sendable, CustomStringConvertible {
        /// The address that was called.
        package let address: SocketAddress
        /// Why the call failed.
        package let cause: Cause

        /// Whether nothing at the address said anything; a gate that stays closed is an answer.
        package var hadNoAnswer: Bool {
            switch cause {
            case .connect, .timedOut(.connecting): true
            case .end, .tls, .timedOut(.waiting), .timedOut(.handshake): false
            }
        }

        /// What it tells of the machine at the address.
        fileprivate var sign: Sign {
            switch cause {
            case .timedOut(.connecting), .timedOut(.handshake), .end(.timedOut): .silence
            case .connect(let error):
                switch error.rawValue {
                case ETIMEDOUT, EHOSTUNREACH, EHOSTDOWN: .silence
                case ECONNREFUSED, ECONNRESET: .answer
                default: .nothing
                }
            case .timedOut(.waiting): .nothing
            case .end, .tls: .answer
            }
        }

        package init(address: SocketAddress, cause: Cause) {
            self.address = address
            self.cause = cause
        }

        package var description: String {
            switch cause {
            case .connect(let error): "\(address): \(error)"
            case .end(let end): "\(address): \(end)"
            case .tls(let error): "\(address): \(error)"
            case .timedOut(.waiting): "\(address): no free place in time"
            case .timedOut(.connecting): "\(address): no answer in time"
            case .timedOut(.handshake): "\(address): TLS not done in time"
            }
        }
    }

    /// What a failed attempt tells of the machine at an address.
    fileprivate enum Sign {
        /// It runs.
        case answer
        /// It is off, asleep, or nobody's.
        case silence
        /// Nothing: the attempt failed on this side.
        case nothing
    }

    /// Whether the device seems to be off or asleep: nothing at its addresses has answered, and something should have.
    package var isSilence: Bool {
        let signs = failures.map(\.sign)
        return signs.contains(.silence) && !signs.contains(.answer)
    }

    /// One for each address that was tried; none when there was none to try.
    package let failures: [Failure]

    /// An error with these failures.
    package init(failures: [Failure]) {
        self.failures = failures
    }

    package var description: String {
        failures.isEmpty ? "no address known" : failures.map(\.description).joined(separator: "; ")
    }
}
