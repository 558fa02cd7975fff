internal import Glibc
import HandoffModel
import LoopIO

/// The process of the host: caller, standard input and output, signals.
package enum BrowserProcess {
    /// The maximum number of bytes that the extension may leave unread before it counts as
    /// unresponsive.
    private static let maxUnread = 16 << 20
    private static let help = """
        usage: handoff-browser ORIGIN
               handoff-browser MANIFEST EXTENSION

        Connects a web browser to handoffd. Browsers start and stop it as the native messaging host of the Handoff
        extension. Do not run it directly.

          --help, --version

        """

    /// Runs the host until it exits, on the calling thread, which must be the main thread.
    ///
    /// - Parameter words: The command-line arguments without the program name.
    /// - Returns: The exit code: 0, 1 if it could not start, or 2 if the caller is not the Handoff
    ///   extension.
    package static func run(_ words: [String]) -> Int32 {
        switch words {
        case ["--help"]:
            write(help, to: .output)
            return 0
        case ["--version"]:
            write("handoff-browser \(Version.number)\n", to: .output)
            return 0
        default: break
        }
        guard let caller = BrowserCaller(words: words, program: ProcessEnvironment.parentProgram) else {
            write(help, to: .error)
            return 2
        }
        do {
            try ProcessSignals.prepare(blocking: [SIGTERM, SIGINT])
            return try serve(caller)
        } catch {
            write("handoff-browser: \(error)\n", to: .error)
            return 1
        }
    }

    private static func serve(_ caller: BrowserCaller) throws -> Int32 {
        let loop = try EventLoop()
        let places = HostPlaces(
            environment: { ProcessEnvironment.value($0) }, userID: ProcessEnvironment.userID)
        let input = try ByteStream(Descriptor(owning: STDIN_FILENO), on: loop)
        let output = try ByteStream(Descriptor(owning: STDOUT_FILENO), on: loop)
        output.onError = { _ in loop.stop() }
        let host = BrowserHost(loop: loop, places: places, app: caller.app) { message in
            guard let bytes = NativeFramer.framed(message.json) else { return }
            output.write(bytes)
            if output.pendingWriteBytes > maxUnread { loop.stop() }
        }
        var framer = NativeFramer()
        input.onRead = { bytes in
            framer.received(bytes) { result in
                switch result {
                case .success(let json):
                    if let message = ExtensionMessage(json: json) { host.received(message) }
                case .failure(let why):
                    write("handoff-browser: skipped a message from the extension: \(why)\n", to: .error)
                }
            }
        }
        // The browser has exited, or the extension was disabled.
        input.onEnd = { loop.stop() }
        input.onError = { _ in loop.stop() }
        let signals = try [SIGTERM, SIGINT].map { number in try loop.signal(number) { loop.stop() } }
        host.start()
        try loop.run()
        host.stop()
        for signal in signals { signal.cancel() }
        input.close()
        output.close()
        return 0
    }

    private static func write(_ text: String, to stream: StandardStream) {
        // Write errors are ignored: there is nowhere else to report them.
        try? stream.write(Array(text.utf8))
    }
}
