/// Something that is followed on a bus. On the loop's thread.
package protocol BusSource: AnyObject {
    /// Ends it; nothing is told any more.
    func stop()
}
