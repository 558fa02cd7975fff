internal import Glibc
import HandoffModel
import LoopIO

/// The process around the host: who calls, standard input and output, signals.
package enum BrowserProcess {
    /// What the extension may leave unread, in bytes, before it is taken for dead.
    private static let mostUnread = 16 << 20
    private static let help = """
        usage: handoff-browser ORIGIN
               handoff-browser MANIFEST EXTENSION

        Connects a web browser with handoffd. Browsers start it for the extension Handoff, as its native messaging host, and end
        it; nobody else has a use for it.

          --help, --version

        """

    /// Runs the host to its end, on the calling thread, which must be the process's first.
    ///
    /// - Parameter words: the command line without the program's name.
    /// - Returns: the exit code: 0, 1 when it could not start, or 2 when it was not our extension that called.
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
            if output.pendingWriteBytes > mostUnread { loop.stop() }
        }
        var framer = NativeFramer()
        input.onRead = { bytes in
            framer.received(bytes) { result in
                switch result {
                case .success(let json):
                    if let message = ExtensionMessage(json: json) { host.received(message) }
                case .failure(let why):
                    write("handoff-browser: skipped a message of the extension: \(why)\n", to: .error)
                }
            }
        }
        // The browser has ended, or the extension was switched off.
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
        // Nobody is left to tell that the terminal is gone.
        try? stream.write(Array(text.utf8))
    }
}
