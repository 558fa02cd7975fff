/// What the owner of a multicast discovery asks of its thread.
package enum DiscoveryCommand: Sendable {
    case publish(Publication?)
    case setMembership(@Sendable (String) -> Bool)
    case refresh(String)
    case stop(@Sendable () -> Void)
}
