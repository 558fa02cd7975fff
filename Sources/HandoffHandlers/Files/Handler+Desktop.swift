import HandoffModel

/// The declaration in an app's file.
package enum HandlerDeclaration: Sendable, Equatable {
    /// The app continues some activities.
    case handler(Handler)
    /// The file declares nothing for Handoff, or hides an app with the same id in a later folder.
    case none
}

extension Handler {
    /// Reads a desktop entry.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the file.
    ///   - installed: Nanoseconds since 1970.
    ///   - isThere: Returns whether a program exists, by absolute path or by a name to look up in
    ///     `PATH` (`TryExec`).
    /// - Throws: An error that names the line if the declarations for Handoff are invalid.
    package static func declared(
        byDesktopEntry bytes: [UInt8], id: AppID, path: String, installed: Int64, locale: DesktopLocale,
        exists: (String) -> Bool
    ) throws(HandlerFileError) -> HandlerDeclaration {
        guard DesktopFile.mayDeclare(bytes) else { return .none }
        let file = try DesktopFile(parsing: bytes)
        if try file.flag("Hidden") { return .none }
        var types = try HandlerValues.types(
            try file.list("X-Handoff-ActivityTypes"), at: line("X-Handoff-ActivityTypes"))
        let domains = try HandlerValues.domains(try file.list("X-Handoff-Domains"), at: line("X-Handoff-Domains"))
        let opener = try file.text("X-Handoff-Exec")
        let command = opener.flatMap(ExecLine.init)
        if opener != nil {
            guard let command, command.takesPage || command.takesFile else {
                throw HandlerFileError(
                    line: line("X-Handoff-Exec"), "X-Handoff-Exec takes neither a page (%u) nor a file (%f)")
            }
            guard !command.hasQuotedCode else {
                throw HandlerFileError(
                    line: line("X-Handoff-Exec"),
                    "X-Handoff-Exec has a field code inside quotes: write it as a word of its own")
            }
            guard domains.isEmpty || command.takesPage else {
                throw HandlerFileError(
                    line: line("X-Handoff-Exec"), "X-Handoff-Exec takes no page (%u), which X-Handoff-Domains needs")
            }
            if types.isEmpty, domains.isEmpty {
                if command.takesPage { types.insert(.browsingWeb) }
                if command.takesFile { types.insert(.content) }
            }
        }
        guard !types.isEmpty || !domains.isEmpty else { return .none }
        guard try file.text("Type") == "Application" else {
            throw HandlerFileError(line: line("Type"), "Type is not Application")
        }
        guard let name = try file.text("Name", in: locale) else {
            throw HandlerFileError(line: nil, "no Name")
        }
        if let program = try file.text("TryExec"), !program.isEmpty, !exists(program) { return .none }
        let isBusApp = try file.flag("DBusActivatable")
        if let opener {
            try check(opener, of: "X-Handoff-Exec", at: line("X-Handoff-Exec"), exists)
        } else if !isBusApp {
            guard let exec = try file.text("Exec") else { throw HandlerFileError(line: nil, "no Exec") }
            try check(exec, of: "Exec", at: line("Exec"), exists)
        }
        let versions = try HandlerValues.versions(
            try file.list("X-Handoff-ActivityVersions"), at: line("X-Handoff-ActivityVersions"))
        let launch: Launch
        if let opener {
            // A page of a claimed site is opened as a page, whatever the type of its activity.
            let handled = domains.isEmpty ? types : types.union([.browsingWeb])
            let terminal = try file.flag("Terminal") ? try terminal(at: line("Terminal"), exists) + " " : ""
            launch = .command(
                opening(handled, with: terminal + opener, as: id),
                folder: try folder(try file.text("Path"), at: line("Path")))
        } else {
            launch = self.launch(path, isBusApp: isBusApp)
        }
        return .handler(
            Handler(
                id: id, name: try HandlerValues.name(name, at: line("Name")), types: types, versions: versions,
                team: try HandlerValues.team(try file.text("X-Handoff-TeamID"), at: line("X-Handoff-TeamID")),
                domains: domains, launch: launch, icon: HandlerValues.icon(try file.text("Icon")), path: path,
                installed: installed))

        func line(_ key: String) -> Int? { file.entry(key)?.line }
    }

    /// Checks that the program of a command exists, so that only startable apps are offered.
    private static func check(
        _ command: String, of key: String, at line: Int?, _ exists: (String) -> Bool
    ) throws(HandlerFileError) {
        guard let words = ExecLine(command) else { throw HandlerFileError(line: line, "\(key) names no program") }
        guard exists(words.program) else {
            throw HandlerFileError(line: line, "\(key) names a program that does not exist: \(words.program)")
        }
    }

    /// Returns the start of a command that runs its remaining words in the user's terminal
    /// emulator.
    private static func terminal(at line: Int?, _ exists: (String) -> Bool) throws(HandlerFileError) -> String {
        if exists("xdg-terminal-exec") { return "xdg-terminal-exec" }
        guard exists("x-terminal-emulator") else {
            throw HandlerFileError(
                line: line, "Terminal is true, and neither xdg-terminal-exec nor x-terminal-emulator is installed")
        }
        return "x-terminal-emulator -e"
    }

    /// Returns the working directory of the app; nil if the file has none.
    private static func folder(_ path: String?, at line: Int?) throws(HandlerFileError) -> String? {
        guard let path, !path.isEmpty else { return nil }
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw HandlerFileError(line: line, "Path is not an absolute path")
        }
        return path
    }

    /// Returns the command that continues activities for an app without Handoff support, and opens
    /// the result with the app's command.
    private static func opening(_ types: Set<ActivityType>, with command: String, as id: AppID) -> [String] {
        ["handoffctl", "handle"] + types.map(\.text).sorted() + ["--app", id.text, "--open-with", command]
    }

    /// The bus name is the file name alone, even for an entry in a subfolder.
    private static func launch(_ path: String, isBusApp: Bool) -> Launch {
        let file = path.split(separator: "/").last ?? ""
        guard isBusApp, file.hasSuffix(".desktop"), let name = BusName(String(file.dropLast(".desktop".count))) else {
            return .desktopEntry(path: path)
        }
        return .bus(name, path: path)
    }
}
