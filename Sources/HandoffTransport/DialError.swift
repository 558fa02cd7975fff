import Glibc
package import HandoffCrypto
package import LoopIO

/// The reason for a failed call: the failures at each address, in the order in which they occurred.
package struct DialError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The current step of an attempt at one address.
    package enum Stage: String, Sendable {
        /// Waiting for earlier attempts at the same address to pass its gate.
        case waiting
        /// Waiting for TCP to connect.
        case connecting
        /// Connected by TCP. The TLS handshake is not complete.
        case handshake
    }

    /// The reason for the end of an attempt.
    package enum Cause: Error, Equatable, Sendable {
        /// The TCP connection failed.
        case connect(Errno)
        /// The connection ended before both sides were authenticated.
        case end(ConnectionEnd)
        /// TLS could not be started.
        case tls(TLSError)
        /// The deadline of the whole call passed in this stage.
        case timedOut(Stage)
    }

    /// A failed attempt at one address.
    package struct Failure: Equatable, Sendable, CustomStringConvertible {
        /// The address of the attempt.
        package let address: SocketAddress
        /// The reason for the failure.
        package let cause: Cause

        /// True if nothing at the address replied. A gate that stays closed counts as a reply.
        package var hadNoReply: Bool {
            switch cause {
            case .connect, .timedOut(.connecting): true
            case .end, .tls, .timedOut(.waiting), .timedOut(.handshake): false
            }
        }

        /// The conclusion about the machine at the address.
        fileprivate var evidence: Evidence {
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

        package var description: String {
            switch cause {
            case .connect(let error): "\(address): \(error)"
            case .end(let end): "\(address): \(end)"
            case .tls(let error): "\(address): \(error)"
            case .timedOut(.waiting): "\(address): timed out while waiting for earlier attempts at this address"
            case .timedOut(.connecting): "\(address): no answer in time"
            case .timedOut(.handshake): "\(address): the TLS handshake timed out"
            }
        }
    }

    /// The conclusion from a failed attempt about the machine at an address.
    fileprivate enum Evidence {
        /// The machine runs.
        case answer
        /// The machine is off, asleep, or does not exist.
        case silence
        /// No conclusion: the attempt failed on this side.
        case nothing
    }

    /// True if the device seems to be off or asleep: there was no reply from its addresses,
    /// although one was expected.
    package var isSilence: Bool {
        let evidence = failures.map(\.evidence)
        return evidence.contains(.silence) && !evidence.contains(.answer)
    }

    /// The failures by address; empty if no address was known.
    package let failures: [Failure]

    package var description: String {
        failures.isEmpty ? "no address known" : failures.map(\.description).joined(separator: "; ")
    }
}
