import HandoffModel
import LoopIO

/// All commands, in the order shown in help.
package struct CommandTable: Sendable {
    /// The result of looking up the first words of a command line.
    enum Entry: Sendable {
        /// A complete command name.
        case command(any Command.Type)
        /// The first word of several commands.
        case group
        /// No match.
        case none
    }

    package let commands: [any Command.Type]

    init(_ commands: [any Command.Type]) {
        self.commands = commands
    }

    /// Every command of the program.
    package static let standard = CommandTable([
        StatusCommand.self,
        AccountCreateCommand.self, AccountShowCommand.self, AccountLeaveCommand.self, AccountRotateCommand.self,
        AccountExportCommand.self, AccountImportCommand.self,
        PairCommand.self, JoinCommand.self,
        DevicesCommand.self, DeviceRenameCommand.self, DeviceRemoveCommand.self, DeviceAcceptCommand.self,
        PeerAddCommand.self, PeerRemoveCommand.self,
        NetworkListCommand.self, NetworkTrustCommand.self, NetworkForgetCommand.self,
        PublishCommand.self, StreamCommand.self, ListCommand.self, WatchCommand.self, ContinueCommand.self,
        OpenCommand.self, HandleCommand.self,
        SendCommand.self, DeliverCommand.self, WithdrawCommand.self, DocumentCommand.self,
        CopyCommand.self, PasteCommand.self,
        AppsCommand.self, AppEnableCommand.self, AppDisableCommand.self, AppMuteCommand.self, AppUnmuteCommand.self,
        AppKeepCommand.self, AppNoKeepCommand.self,
        PauseCommand.self, ResumeCommand.self, AdvertiseCommand.self, ReceiveCommand.self,
        DoctorCommand.self, WhyCommand.self, LogCommand.self,
        CompletionCommand.self, HelpCommand.self,
    ])

    /// Looks up a command or group by its words.
    func find(_ words: [String]) -> Entry {
        if let command = commands.first(where: { $0.specification.words == words }) { return .command(command) }
        return commands.contains { $0.specification.words.starts(with: words) } ? .group : .none
    }

    /// Returns the second words of a group's commands.
    func subcommands(of group: String) -> [String] {
        commands.compactMap { command in
            let words = command.specification.words
            return words.count == 2 && words[0] == group ? words[1] : nil
        }
    }

    /// Returns the command that `word` was probably meant to be, if any.
    package func suggestion(for word: String) -> String? {
        // For example `export`, without the first word `account`.
        if let whole = commands.first(where: { $0.specification.words.dropFirst().first == word }) {
            return whole.specification.name
        }
        var candidates: [String] = []
        for command in commands {
            let first = command.specification.words[0]
            if !candidates.contains(first) { candidates.append(first) }
        }
        return Spelling.nearest(to: word, among: candidates)
    }

    /// Returns true if any command has the option.
    func knowsOption(_ name: String) -> Bool {
        commands.contains { command in command.specification.options.contains { $0.name == name } }
    }
}
