/// Why a cryptographic operation could not be done; says nothing about data that failed a check (those give `nil` or `false`).
package enum CryptoError: Error, Equatable, Sendable, CustomStringConvertible {
    /// OpenSSL refused `call`; `detail` is the text of its error queue.
    case library(call: String, detail: String)
    /// An input has a length that the algorithm does not take.
    case wrongLength(of: String, count: Int)

    /// The error of the call that has just failed, with what OpenSSL's queue of this thread says about it.
    ///
    /// - Parameter call: name of the C function.
    package static func failed(_ call: String) -> CryptoError {
        .library(call: call, detail: OpenSSL.takeErrors())
    }

    package var description: String {
        switch self {
        case .library(let call, let detail): "\(call) failed: \(detail)"
        case .wrongLength(let name, let count): "\(name) of \(count) bytes is not possible"
        }
    }
}
