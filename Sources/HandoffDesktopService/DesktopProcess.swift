internal import Glibc
import HandoffHandlers
import HandoffLog
import HandoffModel
import LoopIO

/// The process around the service: command line, sockets, signals.
package enum DesktopProcess {
    /// How long a service that nobody is connected to stays: the daemon may just be starting anew.
    private static let timeout = Duration.seconds(20)
    private static let help = """
        usage: handoff-desktop [--app-socket PATH]

        Does what handoffd cannot do from inside its sandbox: starts apps, opens web pages, shows notifications, follows
        sessions, keeps the machine awake. It is started by handoff-desktop.socket, or by handoffd, and by nobody else: the
        service manager passes it a listening socket, handoffd a connected one as standard input.

          --app-socket PATH  where apps find handoffd, if it is in no usual place
          --help, --version

        """

    /// Runs handoff-desktop to its end, on the calling thread, which must be the process's first.
    ///
    /// - Parameter words: the command line without the program's name.
    /// - Returns: the exit code: 0, 1 when it could not start, or 2 for wrong usage.
    package static func run(_ words: [String]) -> Int32 {
        switch words.count {
        case 0: return serve(appSocket: nil)
        case 1 where words[0] == "--help":
            say(help, to: .output)
            return 0
        case 1 where words[0] == "--version":
            say("handoff-desktop \(Version.number)\n", to: .output)
            return 0
        case 2 where words[0] == "--app-socket" && words[1].hasPrefix("/"): return serve(appSocket: words[1])
        default:
            say(help, to: .error)
            return 2
        }
    }

    private static func serve(appSocket: String?) -> Int32 {
        do {
            // Before any thread: all of them inherit what is blocked.
            try ProcessSignals.prepare(blocking: [SIGTERM, SIGINT])
            let passed = ServiceManager.listenDescriptors()
            let isJoined = ProcessEnvironment.isSocket(STDIN_FILENO)
            guard !passed.isEmpty || isJoined else {
                say(help, to: .error)
                return 2
            }
            try serve(passed, appSocket: appSocket)
            return 0
        } catch {
            say("handoff-desktop: \(error)\n", to: .error)
            return 1
        }
    }

    private static func serve(_ passed: [PassedSocket], appSocket: String?) throws {
        let log = Logger(subsystem: "desktop", sink: StderrSink(), level: .notice)
        let loop = try EventLoop()
        let userID = ProcessEnvironment.userID
        let service = DesktopService(
            loop: loop, log: log, environment: ProcessEnvironment.all, socket: appSocket, userID: userID)
        let server = DesktopServer(
            loop: loop, log: log, version: Version.number, userID: userID, onCall: { service.serve($0) })
        var channel: ByteStream?
        var timer: LoopTimer?
        if passed.isEmpty {
            // Each descriptor that comes over standard input is a connection; at its end there will be no more.
            let stream = try ByteStream(Descriptor(owning: STDIN_FILENO), on: loop)
            stream.onPassed = { for file in $0 { if let socket = file.take() { server.accept(socket) } } }
            stream.onRead = { _ in }
            stream.onEnd = { server.onIdle = { loop.stop() } }
            stream.onError = { _ in server.onIdle = { loop.stop() } }
            channel = stream
        } else {
            for socket in passed {
                server.serve(try Listener(adopting: Descriptor(owning: socket.descriptor), on: loop))
            }
            server.onIdle = {
                timer = loop.timer(after: timeout) { if server.isIdle { loop.stop() } }
            }
        }
        let signals = try [SIGTERM, SIGINT].map { number in try loop.signal(number) { loop.stop() } }
        service.start()
        // The start reads much that is not needed later. By then apps have been looked through, and the buses have answered.
        let settling = loop.timer(after: .seconds(10), accuracy: .seconds(5)) { FreeMemory.giveBack() }
        try loop.run()
        settling.cancel()
        server.stop()
        service.stop()
        for signal in signals { signal.cancel() }
        timer?.cancel()
        channel?.close()
    }

    private static func say(_ text: String, to stream: StandardStream) {
        // Nobody is left to tell that the terminal is gone.
        try? stream.write(Array(text.utf8))
    }
}
