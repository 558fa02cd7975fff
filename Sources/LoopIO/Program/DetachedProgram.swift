import CLinux
import Glibc

/// A program that was started by us and outlives us.
package final class DetachedProgram {
    /// A program that runs, before anybody waits for its end. Belongs to one thread at a time.
    package struct Started: Sendable {
        fileprivate let child: Int32
    }

    private let child: Int32
    private var descriptor: Descriptor?
    private var source: EventSource?
    private var onEnded: ((Int32) -> Void)?

    /// Starts a program (`clinux_spawn_detached`). May wait for a disk: for a thread of its own.
    ///
    /// - Parameters:
    ///   - words: the program by absolute path, and its arguments.
    ///   - environment: all of its variables.
    ///   - folder: where it begins.
    ///   - input: a descriptor that it gets as its standard input, which stays the caller's; nil: it gets none.
    /// - Throws: an error of posix_spawn(3).
    package static func start(
        _ words: [String], environment: [String: String], folder: String, input: Int32? = nil
    ) throws(Errno) -> Started {
        guard let program = words.first else { throw .invalidArgument }
        let variables = environment.map { "\($0.key)=\($0.value)" }
        var child: pid_t = 0
        let error = withCStrings(words) { arguments in
            withCStrings(variables) { variables in
                clinux_spawn_detached(program.systemPath, arguments, variables, folder.systemPath, input ?? -1, &child)
            }
        }
        if error != 0 { throw Errno(rawValue: error) }
        return Started(child: child)
    }

    /// Waits for the end of a program on the loop; keeps itself alive until then, so that no dead process stays behind.
    ///
    /// - Parameter ended: called once, unless `forget` was called: the exit status, or 256 plus the number of the signal that
    ///   ended it.
    @discardableResult
    package init(
        _ started: Started, on loop: EventLoop, ended: @escaping (Int32) -> Void
    ) throws(Errno) {
        child = started.child
        let child = child
        descriptor = Descriptor(owning: try SystemCall.retrying { clinux_open_child(child) })
        onEnded = ended
        guard let number = descriptor?.raw else { return }
        source = try loop.watch(number, .readable) { [self] _ in finish() }
    }

    /// Nobody asks any more how it ends.
    package func forget() {
        onEnded = nil
    }

    private func finish() {
        let status = clinux_child_status(child)
        guard status != -1 else { return }
        source?.cancel()
        source = nil
        descriptor = nil
        let report = onEnded
        onEnded = nil
        // Below -1 somebody else took the status: nothing is known against it.
        report?(max(0, status))
    }

    /// Calls `body` with pointers to the texts, and a null behind them.
    private static func withCStrings<Result>(
        _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0.systemPath) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeMutableBufferPointer { buffer in
            // The null was appended: the array is not empty.
            guard let base = buffer.baseAddress else { preconditionFailure("an array with an element has none") }
            return body(base)
        }
    }
}
