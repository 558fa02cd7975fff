import HandoffClient
import HandoffControl
import HandoffModel
package import LoopIO

/// `deliver`: offers the items that `send --wait` has stored, until none is left.
package struct DeliverCommand: Command {
    package static let specification = CommandSpecification(
        words: ["deliver"], summary: "offer the items of 'send --wait' until all are accepted",
        details: """
            handoff-deliver.service runs this command while items are waiting, and starts it at login. Without a user
            service manager, run the command manually. The items are files in the folder 'queue' of the daemon's state
            folder. An item is removed when it is accepted or withdrawn (handoffctl withdraw). An item is no longer
            offered if it was declined, if its file was deleted or replaced by a folder, or if its device is no longer
            in the account. The reason is printed. handoffctl list --mine and handoffctl doctor show it until the item
            is withdrawn. Exits with status 0 when no item is left, and with 5 if another process already offers the
            items. Ctrl-C stops the command and keeps the items.

            With --json: the events of handoffctl publish.
            """,
        example: "handoffctl deliver")

    package init(validating arguments: ParsedArguments) throws(UsageError) {}

    package func run(in context: CommandContext) {
        context.connect { client in
            context.withWaitingFolder(client) { [unowned client] (folder) throws(CommandFailure) in
                client.close()
                let session = try DeliverSession(context, folder)
                context.keep(session)
                try session.start()
            }
        }
    }
}

/// Offers the items in the folder, and those that are added later.
private final class DeliverSession {
    private let context: CommandContext
    private let folder: WaitingFolder
    /// Held while the items are offered, so that no other process offers them at the same time.
    private let lock: ProcessLock
    private let attachment: AppAttachment
    private var watch: FolderWatch?
    private var attached: Attachment?
    /// The offers by the names of their files.
    private var sessions: [String: PublishSession] = [:]

    init(_ context: CommandContext, _ folder: WaitingFolder) throws(CommandFailure) {
        self.context = context
        self.folder = folder
        lock = try folder.lock()
        attachment = AppAttachment(
            path: context.socketPath, loop: context.loop,
            app: AttachRequest(app: ProgramVersion.program, version: ProgramVersion.number, team: nil))
    }

    func start() throws(CommandFailure) {
        // The end of the connection withdraws the activities. The items stay.
        context.onInterrupt { [unowned self] in context.finish(.done) }
        do throws(Errno) {
            let watch = try FolderWatch(on: context.loop) { [weak self] in self?.read() }
            _ = watch.setFolders([folder.path: .anything])
            self.watch = watch
        } catch {
            throw .system("watch \(folder.path)", why: "\(error)")
        }
        read()
        guard context.status == nil else { return }
        attachment.start { [weak self] report in
            guard let self else { return }
            switch report {
            case .attached(let session): attached = session
            case .lost:
                attached = nil
                context.noteDaemonStopped()
            case .notDeclared(let error), .failed(let error): context.fail(CommandFailure(error))
            case .event: break
            }
            // In the order in which they were sent.
            for (_, session) in sessions.sorted(by: { $0.key < $1.key }) { session.received(report) }
        }
    }

    /// Offers new items, and withdraws those whose files were deleted.
    private func read() {
        do throws(CommandFailure) {
            let names = try folder.names()
            for (name, session) in sessions where !names.contains(name) { session.interrupted() }
            for name in names where sessions[name] == nil && sessions.count < WaitingFolder.maxItems { offer(name) }
            finishIfEmpty()
        } catch {
            context.fail(error)
        }
    }

    private func offer(_ name: String) {
        let item: WaitingItem?
        do throws(Errno) {
            item = try WaitingItem.read(folder.file(name))
        } catch {
            // The item has been accepted or withdrawn, or cannot be read now.
            if error != .noSuchFile { context.note("cannot read \(folder.file(name)): \(error)") }
            return
        }
        guard let item else {
            context.note("\(folder.file(name)) is not a waiting item; it is removed")
            return remove(name)
        }
        do throws(CommandFailure) {
            let session = try PublishSession(
                item.request, context, attachment: attachment, reportsObstacles: false
            ) { [weak self] in self?.ended(name, item, $0) }
            sessions[name] = session
            session.prepare()
            if let attached { session.received(.attached(attached)) }
        } catch {
            ended(name, item, error)
        }
    }

    private func ended(_ name: String, _ item: WaitingItem, _ failure: CommandFailure?) {
        guard let failure else { return drop(name) }
        guard failure == .withdrawn(), let attached else { return fail(name, item, failure.message) }
        // Withdrawn by the user, or by the daemon because the device is no longer in the account.
        attached.calls.listDevices { [weak self] result in
            guard let self else { return }
            if case .success(let devices) = result, devices.contains(where: { $0.id == item.device }) {
                return drop(name)
            }
            fail(name, item, "the device is no longer in the account")
        }
    }

    /// Replaces the item with the reason, which the user can read later.
    private func fail(_ name: String, _ item: WaitingItem, _ reason: String) {
        let title = VisibleText.escape(item.title ?? "an item")
        context.note("\(title) was not delivered to \(item.device.short): \(reason)")
        do throws(CommandFailure) {
            try folder.add(UndeliveredItem(item, reason: reason))
            drop(name)
        } catch {
            // The item is offered again after the next start, which reports the failure again.
            context.note(error.message)
        }
    }

    private func drop(_ name: String) {
        remove(name)
        // The session reports its own end, and is released later.
        context.loop.later { [weak self] in
            self?.sessions[name] = nil
            self?.finishIfEmpty()
        }
    }

    private func remove(_ name: String) {
        do throws(Errno) {
            try FolderListing.removeFile(folder.file(name))
        } catch {
            if error != .noSuchFile { context.note("cannot remove \(folder.file(name)): \(error)") }
        }
    }

    private func finishIfEmpty() {
        guard sessions.isEmpty, let names = try? folder.names(), names.isEmpty else { return }
        context.finish(.done)
    }
}
