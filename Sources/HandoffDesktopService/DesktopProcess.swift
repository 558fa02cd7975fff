import DesktopBus
internal import Glibc
import HandoffHandlers
import HandoffModel
import LoopIO

/// The service's process: command line, sockets, signals.
package enum DesktopProcess {
    /// The time after which an idle service exits. Long enough for a restart of the daemon.
    private static let timeout = Duration.seconds(20)
    private static let help = """
        usage: handoff-desktop [--app-socket PATH]

        Performs the tasks that handoffd cannot do inside its sandbox: starts apps, opens web pages, shows notifications,
        follows sessions, keeps the machine awake. Do not run it directly. It is started by handoff-desktop.socket, or
        by handoffd. The service manager passes a listening socket; handoffd passes a connected one as standard input.

          --app-socket PATH  the socket of handoffd for apps, if not the default
          --help, --version

        """

    /// Runs handoff-desktop until it exits, on the calling thread, which must be the main thread.
    ///
    /// - Parameter words: The command-line arguments without the program name.
    /// - Returns: The exit code: 0, 1 if it could not start, or 2 for invalid usage.
    package static func run(_ words: [String]) -> Int32 {
        switch words.count {
        case 0: return serve(appSocket: nil)
        case 1 where words[0] == "--help":
            write(help, to: .output)
            return 0
        case 1 where words[0] == "--version":
            write("handoff-desktop \(Version.number)\n", to: .output)
            return 0
        case 2 where words[0] == "--app-socket" && words[1].hasPrefix("/"): return serve(appSocket: words[1])
        default:
            write(help, to: .error)
            return 2
        }
    }

    /// The folder of translations below the prefix of the installation.
    private static var translations: String? {
        ProcessEnvironment.programFolder.map { $0 + "/../share/locale" }
    }

    private static func serve(appSocket: String?) -> Int32 {
        do {
            // Before any thread is created, because threads inherit the signal mask.
            try ProcessSignals.prepare(blocking: [SIGTERM, SIGINT])
            // The variable is that of gettext(1), for tests and checkouts.
            if let folder = ProcessEnvironment.value("TEXTDOMAINDIR") ?? translations {
                SessionLanguage.load(from: folder)
            }
            let passed = ServiceManager.listenDescriptors()
            let isJoined = ProcessEnvironment.isSocket(STDIN_FILENO)
            guard !passed.isEmpty || isJoined else {
                write(help, to: .error)
                return 2
            }
            try serve(passed, appSocket: appSocket)
            return 0
        } catch {
            write("handoff-desktop: \(error)\n", to: .error)
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
            // Each descriptor received over standard input is a connection. Its end means that no
            // more will follow.
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
        // Frees memory that only the start needed. By then the apps have been read and the buses
        // have replied.
        let settling = loop.timer(after: .seconds(10), accuracy: .seconds(5)) { FreeMemory.release() }
        try loop.run()
        settling.cancel()
        server.stop()
        service.stop()
        for signal in signals { signal.cancel() }
        timer?.cancel()
        channel?.close()
    }

    private static func write(_ text: String, to stream: StandardStream) {
        // Write errors are ignored: there is nowhere else to report them.
        try? stream.write(Array(text.utf8))
    }
}
