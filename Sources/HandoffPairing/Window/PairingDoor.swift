/// How a session came in, and so which password is its.
package enum PairingDoor: Sendable, Hashable {
    /// Without a token: it will try the digits.
    case digits
    /// With a valid token of the link.
    case link
}
