/// One way to find the other devices and to be found by them.
///
/// Every method may be called from any thread, returns at once, and never waits for a bus, a daemon or the network:
/// the work happens on a thread that the discovery owns, in the order of the calls. Calls before `start` are kept.
package protocol Discovery: AnyObject, Sendable {
    /// What finds the devices right now; `AutomaticDiscovery` changes its answer.
    var kind: DiscoveryKind { get }

    /// Begins; called once. Events are delivered on a thread of the discovery, one at a time and in order, until
    /// `stop` is done; they must not wait for anything either.
    func start(_ onEvent: @escaping @Sendable (DiscoveryEvent) -> Void)

    /// What shall be announced from now on; nil withdraws it. A change of the text alone is sent as an update; a new
    /// instance is announced before the old one is withdrawn.
    func publish(_ publication: Publication?)

    /// Tells members' instance names from strangers'. It is called on the discovery's thread, once for every name
    /// that appears and again for all names whenever this method is called. Until then nobody is a member.
    func setMembership(_ isMember: @escaping @Sendable (String) -> Bool)

    /// Resolves one instance again, for example after a failed dial.
    func refresh(instance: String)

    /// Withdraws what was published and ends the thread. `done` is called there when the goodbyes are on their way;
    /// that can take as long as a hanging Avahi makes it, so the caller sets its own deadline and does not depend on
    /// it.
    func stop(_ done: @escaping @Sendable () -> Void)
}
