import HandoffClient
import HandoffControl
import HandoffHandlers
import HandoffJSON
import HandoffModel
package import LoopIO

/// `continue`: continues an activity that another device offers.
package struct ContinueCommand: Command {
    package static let specification = CommandSpecification(
        words: ["continue"], operands: [.optional(.offer)],
        summary: "continue an activity that another device offers",
        options: [
            OptionSpecification("--latest", .flag, "continue the most recent match without asking"),
            OptionSpecification("--type", .value(.type), "match only activities of this type"),
            OptionSpecification("--from", .value(.otherDevice), "match only this device (name or id prefix)"),
            OptionSpecification(
                "--timeout", .value("SECONDS"), "give up after this time (default: 20, plus 30 to start an app)"),
            OptionSpecification("--app", .value(.app), "open it in this app, instead of the usual one"),
            OptionSpecification("--web", .flag, "open its web page in the browser, although an app continues it"),
            OptionSpecification("--older", .flag, "continue it although another device has a newer state"),
            OptionSpecification(
                "--back", .flag, "with an ID of this device: continue its newest state on another one"),
            OptionSpecification("--print", .flag, "print the activity with its payload instead of opening an app"),
            OptionSpecification(
                "--output", .value(.content), "like --print, and save the content that the other app streams"),
            OptionSpecification(
                "--force", .flag, "with --output: replace an existing file, or create one without an extension"),
        ],
        details: """
            Opens the activity in its app, starting the app if needed, or in the browser, and prints what was opened.
            handoffctl list shows this in advance (docs/control-protocol.md, Apps). Without an ID, the most recent
            match is continued. On a terminal, if there are several, you choose one with the arrow keys or its number.
            Details of the selected offer are shown below the list. ID can be shortened to any unique prefix, and
            excludes --latest. Exit status 4 means that no offer matches. On a terminal, the command shows after a
            moment which device it waits for. Ctrl-C cancels.

            On a terminal, an app that has a command for terminals continues the activity in this terminal, instead of
            opening a window: Git, terminals, coding agents and editors do so. --app, --json and --timeout exclude
            this, and so does an output that is not a terminal.

            --app selects one of the apps that continue the activity: handoffctl list --json has them in the field
            choices of opens if there are several. ID is the app's id, the name of its desktop entry with or without
            '.desktop'. An activity without a web page is refused with --web (code 4608, reason pageNotOpened), and
            --app with an app that does not continue it (reason noHandler). Without an ID of an activity, both options
            choose among the activities for which that is possible.

            If another device has continued the activity and has a newer state of it, the command fails with the reason
            newerElsewhere and the id of that state. --older continues the chosen one nevertheless. --back continues the
            newest state that another device has of an activity of this one: handoffctl list --mine shows which device
            continued it and when. Without an ID it is the one that was continued.

            If nothing opens the activity, the error has code 4608, reason noHandler, and explains why. If the app
            cannot be started, the reason is launchFailed. If a started app does not request the activity within 30 s,
            the error has code 4610, reason appNotAttached.

            With --output, the content that the other app streams is saved:

              FILE    as a file of this name. An existing file is replaced only with --force, a folder never. A path
                      that does not exist becomes a file only if its name has an extension, or with --force. Otherwise
                      it counts as the path of a missing folder, and nothing is created. A received folder gets that
                      name
              FOLDER  in this folder, under the sender's name for it. If that name is in use, a number is added:
                      'report (2).pdf'
              -       to standard output (a folder as a tar archive). Everything else is then written to standard error

            The other app must offer streams, as handoffctl publish --stream does. An activity without them is refused
            with StreamFailed, code 3328, and its device is not notified of the attempt. Without an ID, the most recent
            one that has streams is received. Received content is stored in a hidden file next to its destination
            (.NAME.….handoff-part). It gets its name only when it is complete, was not changed while it was sent, and
            is on the disk.

            If the transfer is interrupted because a network or a daemon failed, the command continues the activity
            again and resumes at the same position as long as bytes arrive. It gives up after --timeout without progress
            (with --output, the default is 2 minutes). In that case, and after Ctrl-C (status 130), the received part of
            a file or folder is kept for 14 days: run the same command again to continue. On a terminal, the last line
            shows the received amount, the speed and the remaining time. A folder is sent again completely if anything
            in it that was sent has changed. Content from a standard input, or from a file without a size, as in /proc,
            starts again. If the connection is interrupted so often that far more has to be compared than arrives, the
            command ends as well. A stream to standard output that was interrupted in the middle is a failure.

            A name that would be hidden, would look like an option or another name, or is invisible is converted: '_'
            before a dot or dash, no invisible characters, one space for a run of blanks. Inside a folder, names arrive
            unchanged, byte for byte. If the file system refuses a name, as FAT does with 10:30.txt, the entry gets the
            name 10_30.txt. A note on standard error reports each converted name.

            From a folder, links, sockets, pipes, devices, unreadable files and paths of more than 4,000 bytes or 128
            folders are omitted. Both commands report them with their number, and exit with status 1 and
            TransferIncomplete. Everything else has arrived. A folder with a repository of Git, Mercurial, Sapling,
            Jujutsu or Darcs is announced as such, by its title and before it is received. Files in it that could run
            commands, such as .git/config, are set aside on arrival as .git/config.set-aside (docs/security.md, section
            5).

            Otherwise the command ends with TransferFailed and one of these reasons:

              busy         another command receives the same
              cancelled    a user or a program cancelled it
              changed      the file was changed during the transfer
              exists       the name is in use
              failed       any other failure
              full         no space is left
              gone         interrupted, without further progress
              malformed    the other device violated the protocol
              name         the sender gives it no name: use --output with a file
              stored       it is complete and has its name, but may be missing after a power failure
              tooLarge     the content exceeds a limit on bytes or entries
              unreadable   the source or the destination cannot be opened, read or written
              unsafe       a folder with content that is never accepted
              unsupported  the version or kind of the transfer is unknown

            If a document of the activity is in a shared folder or a checkout that is not on this device, a note on
            standard error names each of them after the activity was continued. Earlier, documents are not known.

            With --json: event (continued), opens, missing (the shared folders and checkouts that this device lacks:
            kind, which is folder or checkout, and name), and the fields of the activity; with --print, the fields of
            the activity with userInfo (tagged form) and origin. With --output, these events follow (with '--output -',
            all of it is on standard error):

              stream    id, stream, kind (file, folder or stream), name, size, from (bytes already received), device,
                        deviceName, repository (if a folder contains one): the content starts or resumes
              progress  stream, received, size: about once a second
              received  path (null for standard output), bytes (of a folder those of its files), missing (if entries of
                        a folder are missing): it has its name; the end
            """,
        example: "handoffctl continue --latest --type com.example.editing --print --json")

    /// Hexadecimal digits of an activity's id.
    private static let idDigits = ActivityID.byteCount * 2
    /// The delay before a progress line is shown for a continuation.
    private static let progressDelay = Duration.milliseconds(300)

    /// Grace period after the user's timeout, to let the daemon report its own error.
    private static let grace = Duration.seconds(5)
    private let request: ContinueRequest
    private let isHandler: Bool
    /// True if the user may be prompted to choose an activity.
    private let mayPick: Bool
    /// True if the usual app opens the activity, without a time limit.
    private let hasUsualApp: Bool
    /// The content to receive; nil for none.
    private let receiving: ReceiveRequest?

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        var activity: String?
        if let id = arguments.operands.first {
            if arguments.has("--latest") { throw .conflict("an ID", "--latest", command: command) }
            activity = try ArgumentValue.identifier(id, digits: Self.idDigits, command: command)
        }
        var type: String?
        if let text = arguments.value("--type") {
            type = try ArgumentValue.activityType(text, command: command).text
        }
        var device: String?
        if let text = arguments.value("--from") { device = try ArgumentValue.text(text, option: "--from") }
        var timeout: Double?
        if let text = arguments.value("--timeout") {
            timeout = try ArgumentValue.seconds(text, option: "--timeout", command: command)
        }
        var output: String?
        if let text = arguments.value("--output") { output = try ArgumentValue.text(text, option: "--output") }
        let isForced = arguments.has("--force")
        if isForced, output == nil { throw .missing("--output", for: "--force", command: command) }
        isHandler = arguments.has("--print") || output != nil
        let isBack = arguments.has("--back")
        for option in ["--type", "--from", "--latest"] where isBack && arguments.has(option) {
            throw .conflict("--back", option, command: command)
        }
        let app = try Self.app(arguments)
        let isWeb = arguments.has("--web")
        let handling = output == nil ? "--print" : "--output"
        if isWeb, app != nil { throw .conflict("--web", "--app", command: command) }
        if isWeb, isHandler { throw .conflict("--web", handling, command: command) }
        if app != nil, isHandler { throw .conflict("--app", handling, command: command) }
        mayPick = activity == nil && !arguments.has("--latest") && !isBack
        hasUsualApp = !isHandler && !isWeb && app == nil && timeout == nil && !isBack
        request = ContinueRequest(
            activity: activity, type: type, from: device, take: isHandler ? true : nil, timeout: timeout, app: app,
            web: isWeb ? true : nil, older: arguments.has("--older") ? true : nil, back: isBack ? true : nil)
        receiving = output.map { [request] output in
            ReceiveRequest(
                activity: request, output: output, isForced: isForced,
                timeout: timeout.map { .seconds($0) } ?? ReceiveRequest.defaultTimeout)
        }
    }

    /// Returns the id of the chosen app, without the suffix of a desktop entry; nil for none.
    private static func app(_ arguments: ParsedArguments) throws(UsageError) -> String? {
        guard let text = arguments.value("--app") else { return nil }
        let suffix = ".desktop"
        let id = text.hasSuffix(suffix) ? String(text.dropLast(suffix.count)) : text
        guard AppID(id) != nil else {
            throw .badValue(text, of: "--app", expected: "the id of an app", command: specification.name)
        }
        return id
    }

    package func run(in context: CommandContext) {
        let hasTerminal = !context.json && context.keyboard.isTerminal
        let picks = mayPick && hasTerminal && context.console.statusColumns() != nil
        let mayUseTerminal = hasTerminal && context.console.outputIsTerminal && hasUsualApp
        guard picks || mayUseTerminal else { return run(request, in: context) }
        context.connect { client in
            client.listActivities(here: !isHandler) { result in
                switch result {
                case .failure(let error): context.fail(CommandFailure(error))
                case .success(let activities):
                    let then = { (request: ContinueRequest) in
                        guard mayUseTerminal else { return run(request, in: context) }
                        open(request, among: activities, client, context)
                    }
                    pick(of: picks ? activities.filter(request.fits) : [], in: context, then)
                }
            }
        }
    }

    /// Continues the offer in this terminal if its app has a command for that. Otherwise the daemon
    /// opens it.
    private func open(
        _ request: ContinueRequest, among offers: [OfferedActivity], _ client: ControlClient, _ context: CommandContext
    ) {
        // The daemon reports an id that matches several offers.
        let fitting = offers.filter(request.fits)
        guard let offer = fitting.first, request.activity == nil || fitting.count == 1, let app = offer.opens.app,
            offers.count(where: { $0.id == offer.id }) == 1
        else { return run(request, in: context) }
        client.listApps { result in
            guard let file = (try? result.get())?.first(where: { $0.id == app })?.file, file.hasSuffix(".json"),
                let manifest = try? LocalFile.read(file, limit: HandlerLimits.fileBytes),
                let words = try? Handler.terminalCommand(ofManifest: manifest.bytes)
            else { return run(request, in: context) }
            context.replace(by: words + [offer.id.hex])
        }
    }

    private func pick(
        of activities: [OfferedActivity], in context: CommandContext, _ then: @escaping (ContinueRequest) -> Void
    ) {
        // With one match or none, the daemon's reply is enough.
        guard activities.count > 1 else { return then(request) }
        let picker = ActivityPicker(activities, context) { activity in
            guard let activity else { return context.finish(.interrupted) }
            var request = request
            request.activity = activity.id.hex
            // Activity ids are known to all members, so another device may offer one that is not
            // its own.
            request.from = activity.device.hex
            then(request)
        }
        context.keep(picker)
        picker.start()
    }

    private func run(_ request: ContinueRequest, in context: CommandContext) {
        if var receiving {
            receiving.activity = request
            return receive(receiving, context)
        }
        context.connect { client in
            if context.console.diagnosticsAreTerminal {
                context.after(Self.progressDelay) { ContinueProgress.show(request, context) }
            }
            if let timeout = request.timeout {
                // The daemon times out by itself and reports why. This is for a daemon that no
                // longer responds.
                context.after(.seconds(timeout) + Self.grace) {
                    context.fail(CommandFailure(.notReachable(path: context.socketPath, reason: "it does not respond")))
                }
            }
            client.continueActivity(request) { result in
                switch result {
                case .success(.willContinue):
                    break  // The payload is on its way; the last reply decides.
                case .success(.continued(let type, let activity, let opens, _, let missing)):
                    show(type, activity, opens, missing, context)
                case .failure(let error):
                    context.fail(CommandFailure(error))
                }
            }
        }
    }

    private func receive(_ receiving: ReceiveRequest, _ context: CommandContext) {
        do {
            let session = try ReceiveSession(receiving, context)
            context.keep(session)
            session.start()
            guard context.console.diagnosticsAreTerminal else { return }
            context.after(Self.progressDelay) { [weak session] in
                if session?.isContinued == false { ContinueProgress.show(request, context) }
            }
        } catch {
            context.fail(error)
        }
    }

    private func show(
        _ type: ActivityType, _ activity: ContinuedActivity?, _ opens: ControlOpens?, _ missing: [ControlMissing]?,
        _ context: CommandContext
    ) {
        var fields = activity?.json ?? ["type": .string(type.text)]
        if let opens { fields["opens"] = .object(opens.json) }
        if let missing { fields["missing"] = .array(missing.map { .object($0.json) }) }
        switch (isHandler, activity) {
        case (true, nil):
            return context.fail(CommandFailure(.badAnswer("the continued reply has no activity")))
        case (true, let activity?):
            if context.json {
                context.console.line(fields)
            } else {
                context.console.write(ContinuedText.text(activity))
            }
        case (false, _):
            context.show(Describe.event("continued", fields), or: Self.text(type, activity, opens))
            for each in missing ?? [] where !context.json {
                let text = "not on this device: \(each.phrase)"
                each.remedy.map { context.note(text, remedy: $0) } ?? context.note(text)
            }
        }
        if let activity, let kept = activity.kept, !context.json { context.note(Describe.copy(activity, kept)) }
        context.finish(.done)
    }

    private static func text(_ type: ActivityType, _ activity: ContinuedActivity?, _ opens: ControlOpens?) -> String {
        let what = Describe.title(activity?.title, type: type)
        let from = activity.map { " from \(VisibleText.escape($0.origin.deviceName))" } ?? ""
        return "continued \(what)\(from)"
            + (opens.map { ": \(Describe.openedPhrase($0, page: activity?.webpageURL))" } ?? "")
    }
}

/// The validated arguments of `continue --output`.
struct ReceiveRequest {
    /// The activity to continue, with this command as the handler.
    var activity: ContinueRequest
    /// The destination of the content: a file, a folder, or `-`.
    var output: String
    /// True to replace a file, or to create one under a name without an extension.
    var isForced = false
    /// The maximum time without progress.
    let timeout: Duration
    /// The name, in a folder, for content without a name; nil to refuse such content.
    var unnamed: String?
    /// The document to fetch instead of the content of the activity.
    var document: DocumentSource?

    /// The default maximum time without progress while receiving.
    static let defaultTimeout = Duration.seconds(120)
}

extension ContinueRequest {
    /// Returns true if an offer matches the requested id, type and device. The daemon uses the same
    /// rules.
    func fits(_ offer: OfferedActivity) -> Bool {
        if let activity, !offer.id.hex.hasPrefix(activity) { return false }
        if let type, type != offer.type.text { return false }
        if activity == nil, type == nil, offer.type == .clipboard { return false }
        if web == true, !offer.hasWebpageURL { return false }
        if let app, app != offer.opens.app, offer.opens.choices?.contains(where: { $0.app == app }) != true {
            return false
        }
        guard let from else { return true }
        return DeviceNames([offer.device: offer.deviceName]).choose(from) == .one(offer.device)
    }

    /// Returns the same request for the most recent matching offer with a stream. Returns it
    /// unchanged if the daemon must decide: if no offer matches, or for an id, which may match
    /// several.
    /// - Throws: `CommandFailure` if offers match but none has a stream.
    func choosingStream(among offers: [OfferedActivity]) throws(CommandFailure) -> ContinueRequest {
        let fitting = offers.filter(fits)
        guard let offer = fitting.first(where: { $0.streams || KeptItem.isIn($0) }) else {
            guard let offer = fitting.first else { return self }
            throw .noStreams(device: VisibleText.escape(offer.deviceName))
        }
        guard activity == nil else { return self }
        var request = self
        (request.activity, request.from) = (offer.id.hex, offer.device.hex)
        return request
    }
}

extension ContinuedActivity {
    /// Returns the offer of this activity, possibly under another id: a publisher publishes it
    /// again after a restart of its daemon.
    func offer(among offers: [OfferedActivity]) -> OfferedActivity? {
        // Activity ids are known to all members, so another device may offer one that is not its
        // own.
        let own = offers.filter { $0.device == origin.device }
        return own.first { $0.id == id }
            ?? own.first {
                $0.type == type && $0.team.hasSameBytes(as: team) && $0.streams
                    && ($0.title == nil || $0.title == title)
            }
    }
}
