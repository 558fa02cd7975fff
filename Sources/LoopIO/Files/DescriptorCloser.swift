import Glibc

/// Closes descriptors that strangers have passed to us, on a thread of its own.
///
/// close(2) of such a one can wait for as long as its maker likes: for the server of a network or FUSE file system, or for
/// the other end of a socket that lingers. The thread is there only while something is to be closed; when one close hangs,
/// the rest waits behind it. One for the process, since a descriptor can lose its last owner anywhere.
package enum DescriptorCloser {
    /// From so many waiting descriptors on no more are taken in. Two whole messages (253 each) fit, so that one that was
    /// stuffed does not shut out the next caller while it is closed.
    private static let limit = 512

    private struct State {
        var waiting: [Int32] = []
        /// The one being closed and those that wait.
        var count = 0
        var isRunning = false
    }

    private static let state = Locked(State())

    /// Whether so few wait that more may be taken in. Any thread may ask.
    package static var isAccepting: Bool { count < limit }

    /// How many are not closed yet.
    package static var count: Int { state.withLock { $0.count } }

    /// Closes a descriptor some time later and never waits. Any thread may call it. Above the limit too: whoever takes
    /// descriptors in asks `isAccepting` before.
    package static func close(_ descriptor: consuming Descriptor) {
        let number = descriptor.release()
        let starts = state.withLock { state in
            state.waiting.append(number)
            state.count += 1
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard starts else { return }
        do throws(Errno) {
            _ = try OwnedThread(name: "closer", body: run)
        } catch {
            // No memory for a thread: they wait for the next call.
            state.withLock { $0.isRunning = false }
        }
    }

    private static func run() {
        while let number = next() {
            Descriptor(owning: number).close()
            state.withLock { $0.count -= 1 }
        }
    }

    private static func next() -> Int32? {
        state.withLock { state in
            guard let number = state.waiting.first else {
                state.isRunning = false
                return nil
            }
            state.waiting.removeFirst()
            return number
        }
    }
}
