/// A subscription on a bus. Use on the loop's thread.
package protocol BusSource: AnyObject {
    /// Ends the subscription. Nothing is reported afterwards.
    func stop()
}
