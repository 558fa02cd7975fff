/// One message of rtnetlink(7), as far as discovery cares.
package enum InterfaceChange: Equatable, Sendable {
    /// A link is there, with `IFF_…` flags.
    case link(index: UInt32, name: String, flags: UInt32)
    /// A link is gone, and its addresses with it.
    case linkGone(index: UInt32)
    /// An address is there, with `IFA_F_…` flags.
    case address(LocalAddress, flags: UInt32)
    /// An address is gone.
    case addressGone(LocalAddress)
    /// The end of an answer to a dump.
    case done(sequence: UInt32)
    /// The kernel refused a request; the value is the positive errno.
    case refused(Int32, sequence: UInt32)
}
