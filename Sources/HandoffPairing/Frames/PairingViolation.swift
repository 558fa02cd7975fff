/// How the other side broke the protocol; each ends the session without an answer.
package enum PairingViolation: Error, Equatable, Sendable, CustomStringConvertible {
    /// The state takes no frame of this kind, or there is none.
    case unexpected(kind: UInt8)
    /// The frame is longer or shorter than its kind may be.
    case length(UInt32)
    /// A share is no point of the curve.
    case share
    /// A sealed frame was not sealed with the key of this session, or not as the next one.
    case seal
    /// An identity has another layout, a wrong name, or is not signed by its key for this session.
    case identity
    /// The device is this one itself.
    case reflection
    /// A refusal or an account has another layout.
    case layout

    /// A lower-case fragment for logs.
    package var description: String {
        switch self {
        case .unexpected(let kind): "frame of kind \(kind) is not allowed here"
        case .length(let length): "frame of \(length) bytes is not allowed here"
        case .share: "share is no point of the curve"
        case .seal: "frame is not sealed for this session"
        case .identity: "identity is not proved"
        case .reflection: "the other device says that it is this one"
        case .layout: "body has another layout"
        }
    }
}
