import CLinux
import Glibc

/// A program started by this process that outlives it.
package final class DetachedProgram {
    /// A running program whose exit is not awaited yet. Use it on one thread at a time.
    package struct Started: Sendable {
        fileprivate let child: Int32
    }

    private let child: Int32
    private var descriptor: Descriptor?
    private var source: EventSource?
    private var onEnded: ((Int32) -> Void)?

    /// Starts a program (`clinux_spawn_detached`). May block on a disk: call it on a separate
    /// thread.
    ///
    /// - Parameters:
    ///   - words: the program's absolute path and its arguments.
    ///   - environment: the complete environment.
    ///   - folder: the working directory.
    ///   - input: a descriptor for its standard input, which the caller still owns; nil gives it no
    ///     input.
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

    /// Waits on the loop for the program's exit. The object retains itself until then, so that the
    /// child process is reaped.
    ///
    /// - Parameter ended: called once, unless `forget` was called, with the exit status, or 256
    ///   plus the number of the signal that ended the program.
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

    /// Cancels the report of the exit.
    func forget() {
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
        // Below -1: other code has reaped the child. Report success, because nothing indicates a
        // failure.
        report?(max(0, status))
    }

    /// Calls `body` with a null-terminated array of C strings.
    static func withCStrings<Result>(
        _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0.systemPath) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeMutableBufferPointer { buffer in
            // The null was appended: the array is not empty.
            guard let base = buffer.baseAddress else { preconditionFailure("a non-empty array has no base address") }
            return body(base)
        }
    }
}
