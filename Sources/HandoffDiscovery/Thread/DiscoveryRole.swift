/// What lives on a discovery thread: made there, used there alone, and released there.
package protocol DiscoveryRole<Command>: AnyObject {
    associatedtype Command: Sendable

    /// Begins; called once, before the first command.
    func start()

    /// Takes a command from the owner, in order.
    func handle(_ command: Command)

    /// Called after every turn of the loop, whatever happened in it: the place to act on what C callbacks left, for
    /// in a callback nothing may be freed.
    func turnEnded()

    /// Called once at the end, while the loop still exists: the last chance to free what hangs on it.
    func end()
}
