import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

/// `handoffctl`, from its arguments to its exit status.
package enum Program {
    /// The environment variables and the user that the program uses.
    package struct Environment {
        /// `$HANDOFF_SOCKET`.
        let socket: String?
        /// `$XDG_RUNTIME_DIR`.
        let runtimeDirectory: String?
        /// The user whose runtime folder is used.
        let userID: UInt32

        /// The environment of this process.
        package static var ofProcess: Environment {
            Environment(
                socket: ProcessEnvironment.value("HANDOFF_SOCKET"),
                runtimeDirectory: ProcessEnvironment.value("XDG_RUNTIME_DIR"), userID: ProcessEnvironment.userID)
        }
    }

    /// The result of starting a command line.
    enum Start {
        /// It has ended, successfully or with a usage error.
        case ended(ExitStatus)
        /// Its command continues while the loop runs.
        case running(CommandContext)
    }

    /// Runs a command line to its end, on a new loop on this thread.
    /// - Parameter arguments: the words after the program's name.
    package static func run(
        _ arguments: [String], _ environment: Environment, _ console: Console, _ keyboard: Keyboard
    )
        -> ExitStatus
    {
        do throws(Errno) {
            let loop = try EventLoop()
            switch start(
                arguments, environment, console, keyboard, on: loop, ownsProcess: true, onFinish: { loop.stop() })
            {
            case .ended(let status):
                return status
            case .running(let context):
                if context.status == nil { try loop.run() }
                return context.status ?? .failed
            }
        } catch {
            let failure = CommandFailure.system("run the event loop", why: "\(error)")
            console.writeFailure(failure, json: Invocation.wantsJSON(arguments))
            return .failed
        }
    }

    /// Starts a command line on the caller's loop.
    /// - Parameters:
    ///   - ownsProcess: true if the process does nothing else, so that the command may drop
    ///     privileges permanently.
    ///   - onFinish: called when a running command has ended.
    static func start(
        _ arguments: [String], _ environment: Environment, _ console: Console, _ keyboard: Keyboard,
        on loop: EventLoop, ownsProcess: Bool = false, onFinish: @escaping () -> Void
    ) -> Start {
        let json = Invocation.wantsJSON(arguments)
        do throws(UsageError) {
            let invocation = try Invocation(arguments)
            switch invocation.request {
            case .help(let words):
                console.writeHelp(try HelpText.text(for: words), json: json)
                return .ended(.done)
            case .version:
                if json {
                    console.line([
                        "program": .string(ProgramVersion.program), "release": .string(ProgramVersion.number),
                    ])
                } else {
                    console.line("\(ProgramVersion.program) \(ProgramVersion.number)")
                }
                return .ended(.done)
            case .command(let type, let parsed):
                let command = try type.init(validating: parsed)
                let context = CommandContext(
                    console: console, keyboard: keyboard, json: json,
                    socketPath: socketPath(invocation.socket, environment), loop: loop,
                    ownsProcess: ownsProcess, onFinish: onFinish)
                command.run(in: context)
                return .running(context)
            }
        } catch {
            console.writeFailure(CommandFailure(error), json: json)
            return .ended(.wrongUsage)
        }
    }

    /// Returns the daemon's socket: from the option, else the environment, else the user's runtime
    /// folder.
    static func socketPath(_ option: String?, _ environment: Environment) -> String {
        if let option { return option }
        if let socket = environment.socket, !socket.isEmpty { return socket }
        return SocketPath.control(runtimeDirectory: environment.runtimeDirectory, userID: environment.userID)
    }
}

/// The name and version of this program.
package enum ProgramVersion {
    /// The name used for attachments and messages.
    static let program = "handoffctl"
    /// The version of the package.
    package static let number = Version.number
}
