import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffJSON
import HandoffModel
import HandoffState
import HandoffTestSupport
import LoopIO
import Testing

@testable import HandoffDaemon

/// The activities of a device in the memory of another one, between whole daemons.
@Suite final class KeepingTests {
    private let fleet: Fleet
    private let desk: TestDevice
    private let couch: TestDevice
    private let editor: TestApp

    init() throws {
        fleet = try Fleet()
        let devices = try fleet.account("desk", "couch")
        (desk, couch) = (devices[0], devices[1])
        editor = try desk.attach("org.example.Editor")
    }

    deinit {
        fleet.end()
    }

    /// Waits until a copy is due, once the desk has handled the last change, and advances the clock
    /// until then.
    private func pass() throws {
        try fleet.poll("a copy is due") { desk.awaitsCopy }
        fleet.pass(KeepingMachine.interval)
    }

    /// Expects that the desk has nothing to send before sleep, once what it sent before is confirmed.
    private func expectNothingToKeep(_ what: String = "") throws {
        #expect(!desk.awaitsCopy, "\(what)")
        let before = desk.copies
        let isDone = desk.keepAll()
        try fleet.withClockStopped { try fleet.poll("sleep is not delayed \(what)") { isDone.withLock { $0 } } }
        #expect(desk.copies == before, "\(what)")
    }

    private func waitFor(_ texts: String...) throws {
        try fleet.poll("the couch has \(texts)") { couch.keptTexts == texts.sorted() }
    }

    /// Waits until what the desk has sent before was handled: the copy of one more activity arrives.
    private func settle() throws {
        let last = try desk.publish(Note.activity("last"))
        let isDone = desk.keepAll()
        try fleet.run("the copies") { isDone.withLock { $0 } }
        try fleet.poll("the last copy") { couch.copies[last.activity] != nil }
        last.close()
        try fleet.poll("its withdrawal") { couch.copies[last.activity] == nil }
    }

    @Test func `an activity is copied 30 s after a change, and not again without one`() throws {
        let id = try editor.engage(Note.activity("first"))
        #expect(try desk.status().standing == .member && desk.awaitsCopy)
        fleet.pass(.seconds(28))
        _ = try desk.status()
        #expect(couch.copies.isEmpty)
        fleet.pass(.seconds(2))
        try waitFor("first")
        #expect(!desk.awaitsCopy, "one timer, and only while a copy is due")

        // Without a change, no other copy is signed.
        let before = desk.copies
        fleet.pass(KeepingMachine.interval)
        _ = try desk.status()
        #expect(!desk.awaitsCopy && desk.copies == before)

        try editor.call(.update, id, change: Note.change("second"))
        #expect(desk.awaitsCopy)
        _ = try couch.status()
        #expect(couch.keptTexts == ["first"])
        try pass()
        try waitFor("second")
    }

    @Test func `without a member that keeps activities, nothing waits`() throws {
        couch.reconfigure { $0.keep = false }
        try fleet.poll("the couch keeps nothing") { !desk.hasKeepers }
        _ = try editor.engage(Note.activity("text"))
        #expect(!desk.awaitsCopy)
        let isDone = desk.keepAll()
        #expect(isDone.withLock { $0 }, "sleep is not delayed")
        // Once one is there, it gets the present state.
        couch.reconfigure { $0.keep = true }
        try fleet.poll("the couch keeps activities") { desk.awaitsCopy }
        try pass()
        try waitFor("text")
    }

    @Test func `with keep = off everywhere nothing is sent, and nothing waits`() throws {
        let quiet = try fleet.account("left", "right") { $0.configuration.keep = false }
        let (left, right) = (quiet[0], quiet[1])
        var note = Note.activity("text")
        note.keep = true
        let published = try left.publish(note)
        try fleet.poll("the offer") { try right.offers().count == 1 }
        func opened() -> Int { (left.log + right.log).count { $0.contains("Connection is open") } }
        let before = opened()
        #expect(!left.hasKeepers && !left.awaitsCopy)
        #expect(left.keepAll().withLock { $0 }, "sleep is not delayed")
        fleet.pass(.seconds(31))
        _ = try right.status()
        fleet.pass(.seconds(31))
        published.close()
        try fleet.poll("the end of the offer") { try right.offers().isEmpty }
        #expect(opened() == before)
        #expect(left.copies.isEmpty && right.copies.isEmpty)
    }

    @Test func `apps save before sleep, unless they save only when they are continued`() throws {
        let id = try editor.engageInUnsaved("saved before")
        let other = try desk.attach("org.example.Secret")
        var secret = Note.activity("declared", needsSave: true)
        secret.savesOnContinue = true
        _ = try other.engage(secret)
        let isDone = desk.keepAll()
        #expect(try editor.save() == id)
        #expect(!isDone.withLock { $0 })
        try editor.call(.answerSave, id, change: Note.change("saved now"))
        try fleet.run("sleep") { isDone.withLock { $0 } }
        #expect(couch.keptTexts == ["declared", "saved now"])
        #expect(other.waiting == 0)
    }

    @Test func `what must stay on this device is never copied`() throws {
        var cases: [ActivityDescription] = []
        var clipboard = ActivityDescription(type: ActivityType.clipboard.text)
        clipboard.userInfo = Note.userInfo("clipboard")
        cases.append(clipboard)
        var sent = Note.activity("sent")
        sent.to = "couch"
        cases.append(sent)
        var never = Note.activity("never")
        never.keep = false
        cases.append(never)
        var hidden = Note.activity("hidden")
        hidden.isEligibleForHandoff = false
        cases.append(hidden)
        var incomplete = Note.activity("incomplete")
        incomplete.requiredUserInfoKeys = ["missing"]
        cases.append(incomplete)
        let publishers = try cases.map { try desk.publish($0) }
        fleet.pass(KeepingMachine.interval)
        try settle()
        #expect(couch.copies.isEmpty)
        withExtendedLifetime(publishers) {}
    }

    @Test func `a payload that is too large is skipped, and its former copy withdrawn`() throws {
        desk.reconfigure { $0.payloadLimit = 900_000 }
        let id = try editor.engage(Note.activity("small"))
        try pass()
        try waitFor("small")
        try editor.call(.update, id, change: Note.change(String(repeating: "x", count: 520 * 1024)))
        try pass()
        try waitFor()
        #expect(!desk.awaitsCopy)
        try editor.call(.update, id, change: Note.change("small again"))
        try pass()
        try waitFor("small again")
        // No device could request more than the payload limit either.
        desk.reconfigure { $0.payloadLimit = 4096 }
        try editor.call(.update, id, change: Note.change(String(repeating: "x", count: 5000)))
        try pass()
        try waitFor()
    }

    @Test func `a copy ends with the activity's expiration date`() throws {
        var note = Note.activity("short")
        note.expirationDate = fleet.appleSeconds + 100
        _ = try editor.engage(note)
        try pass()
        try waitFor("short")
        let closed = Note.activity("closed")
        var staying = closed
        staying.keep = true
        staying.expirationDate = fleet.appleSeconds + 100
        let other = try desk.publish(staying)
        other.close()
        try waitFor("closed", "short")
        // The timer may be a minute late.
        for _ in 0..<6 {
            fleet.pass(.seconds(31))
            _ = try couch.status()
            _ = try desk.status()
        }
        try waitFor()
    }

    @Test func `an activity that may outlast its app stays until it is withdrawn`() throws {
        var note = Note.activity("kept")
        note.keep = true
        let first = try desk.publish(note)
        let second = try desk.publish(Note.activity("not kept"))
        first.close()
        second.close()
        try waitFor("kept")
        try fleet.poll("the couch lists it") { try couch.listedCopies().map(\.id) == [first.activity] }
        #expect(try couch.listedCopies().first?.kept?.state == .ended)
        _ = try desk.call(.withdraw, ["activity": .string(first.activity.hex)])
        try waitFor()
        #expect(try couch.listedCopies().isEmpty)
    }

    @Test func `frequent changes of the offers send few lists, the last state, and each withdrawal`() throws {
        var note = Note.activity("kept")
        note.keep = true
        let kept = try desk.publish(note)
        kept.close()
        try fleet.poll("the couch lists it") { try couch.listedCopies().map(\.id) == [kept.activity] }
        func change() throws {
            let id = try editor.engage(Note.activity("short"))
            try editor.call(.invalidate, id)
        }
        try fleet.withClockStopped {
            let (lists, changes) = (desk.lists, desk.changes)
            for _ in 0..<20 { try change() }
            #expect(desk.changes - changes >= 20)
            #expect(desk.lists - lists <= KeepingService.maxListsAtOnce)
            #expect(!desk.isListCurrent)
        }
        fleet.pass(KeepingService.listInterval)
        try fleet.poll("the list of the last state") { desk.isListCurrent }
        try fleet.poll("the couch lists it again") { try couch.listedCopies().map(\.id) == [kept.activity] }

        // Sleep is not delayed until the next list may be sent.
        try fleet.withClockStopped {
            for _ in 0..<20 { try change() }
            #expect(!desk.isListCurrent)
            let isDone = desk.keepAll()
            try fleet.poll("the list before sleep") { isDone.withLock { $0 } }
            #expect(desk.isListCurrent)
            for _ in 0..<20 { try change() }
            _ = try desk.call(.withdraw, ["activity": .string(kept.activity.hex)])
            try fleet.poll("the withdrawal") { couch.copies.isEmpty }
        }
    }

    @Test func `an update that forbids keeping withdraws the copy`() throws {
        var note = Note.activity("kept")
        note.keep = true
        let id = try editor.engage(note)
        try pass()
        try waitFor("kept")
        var change = ActivityChange()
        change.keep = false
        try editor.call(.update, id, change: change)
        try waitFor()
    }

    @Test func `switching advertising off withdraws all copies`() throws {
        var note = Note.activity("closed")
        note.keep = true
        try desk.publish(note).close()
        // Before the clock passes the timeout of the message.
        try waitFor("closed")
        _ = try editor.engage(Note.activity("open"))
        try pass()
        try waitFor("closed", "open")
        _ = try desk.call(.setSwitches, SetSwitchesRequest(advertise: false).json)
        try waitFor()
        try expectNothingToKeep()
        #expect(try couch.listedCopies(recent: true).isEmpty)
        _ = try desk.call(.setSwitches, SetSwitchesRequest(advertise: true).json)
        try pass()
        try waitFor("open")
    }

    @Test func `while advertising to one device is switched off, no device keeps anything`() throws {
        let train = try fleet.device("train")
        try train.importAccount(try desk.exportAccount())
        try fleet.settle([desk, couch, train])
        _ = try editor.engage(Note.activity("text"))
        try pass()
        try waitFor("text")
        _ = try desk.call(.setSwitches, SetSwitchesRequest(advertise: false, device: "train").json)
        try waitFor()
        try fleet.poll("the train has nothing") { train.copies.isEmpty }
        #expect(!desk.awaitsCopy)
    }

    @Test func `an app that is disabled, or whose activities must not be kept, has no copies`() throws {
        var note = Note.activity("kept")
        note.keep = true
        func isListed(_ member: String) throws -> Bool? {
            try desk.call(.listApps)["apps"]?.array?.first?.object?[member]?.bool
        }
        for (method, member) in [(ControlMethod.setAppKept, "kept"), (.setAppEnabled, "enabled")] {
            let id = try editor.engage(note)
            try pass()
            try waitFor("kept")
            _ = try desk.call(method, ["app": "org.example.Ed", member: false])
            try waitFor()
            #expect(try isListed(member) == false)
            try expectNothingToKeep(method.rawValue)
            _ = try desk.call(method, ["app": "org.example.Editor", member: true])
            #expect(try isListed(member) == true)
            try pass()
            try waitFor("kept")
            try editor.call(.invalidate, id)
            try waitFor()
        }
    }

    @Test func `the administrator forbids keeping, or a type`() throws {
        _ = try editor.engage(Note.activity("text"))
        for rule in ["keep = no", "forbid-type = org.example.*", "forbid-app = org.example.Editor"] {
            try pass()
            try waitFor("text")
            var policy = Policy()
            try PolicyLoader.add(Array((rule + "\n").utf8), path: "/p/a.conf", to: &policy)
            desk.reconfigure(policy: policy)
            try waitFor()
            try expectNothingToKeep(rule)
            desk.reconfigure()
            #expect(desk.awaitsCopy, "\(rule)")
        }
    }

    @Test func `a copy before sleep lasts for a day although the activity has not changed for hours`() throws {
        desk.reconfigure { $0.activityLifetime = nil }
        _ = try editor.engage(Note.activity("text"))
        try pass()
        try waitFor("text")
        fleet.pass(.seconds(20 * 3600))
        _ = try desk.status()
        let isDone = desk.keepAll()
        try fleet.run("sleep") { isDone.withLock { $0 } }
        fleet.pass(.seconds(20 * 3600))
        _ = try couch.status()
        #expect(couch.keptTexts == ["text"])
        fleet.pass(.seconds(5 * 3600))
        try waitFor()
    }

    @Test func `a copy of an activity on offer is replaced when it expires`() throws {
        desk.reconfigure { $0.activityLifetime = nil }
        _ = try editor.engage(Note.activity("text"))
        try pass()
        try waitFor("text")
        fleet.pass(.seconds(25 * 3600))
        try pass()
        try waitFor("text")
    }

    @Test func `a start that keeps nothing withdraws the copies of the former one`() throws {
        let train = try fleet.device("train")
        try train.importAccount(try desk.exportAccount())
        try fleet.settle([desk, couch, train])
        _ = try editor.engage(Note.activity("text"))
        try pass()
        try waitFor("text")
        try fleet.poll("the train has the copy") { train.keptTexts == ["text"] }
        try desk.stop()
        #expect(couch.keptTexts == ["text"])
        desk.configuration.keep = false
        try desk.start()
        try waitFor()
        try fleet.poll("the train has nothing") { train.copies.isEmpty }
        #expect(try couch.listedCopies(recent: true).isEmpty)
        #expect(desk.copies.isEmpty)
    }

    @Test func `copies reach a member before sleep although the connection had ended unnoticed`() throws {
        _ = try editor.engage(Note.activity("text"))
        try fleet.poll("the offer") { try couch.offers().count == 1 }
        desk.freezeConnections()
        couch.freezeConnections()
        let isDone = desk.keepAll()
        try fleet.run("sleep") { isDone.withLock { $0 } }
        #expect(couch.keptTexts == ["text"])
    }

    @Test func `an app that does not save does not prevent the copies of the others`() throws {
        _ = try editor.engage(Note.activity("saved"))
        let busy = try desk.attach("org.example.Busy")
        _ = try busy.engageInUnsaved("busy")
        let hasStopped = try #require(desk.beginToStop())
        fleet.pass(KeepingService.stopTimeout / 2)
        try fleet.run("the desk has stopped") { hasStopped.withLock { $0 } }
        #expect(couch.keptTexts == ["busy", "saved"])
    }

    @Test func `a save that was requested before the screen was locked is copied`() throws {
        let id = try editor.engageInUnsaved("before")
        let isDone = desk.keepAll()
        #expect(try editor.save() == id)
        desk.lockScreen()
        try editor.call(.answerSave, id, change: Note.change("after"))
        try fleet.run("sleep") { isDone.withLock { $0 } }
        #expect(couch.keptTexts == ["after"])
    }

    @Test func `apps save when the screen is locked`() throws {
        let id = try editor.engageInUnsaved("before")
        try fleet.poll("a copy is due") { desk.awaitsCopy }
        desk.lockScreen()
        _ = try desk.status()
        #expect(try editor.save() == id)
        // The machine sleeps while the app saves.
        let isDone = desk.keepAll()
        try editor.call(.answerSave, id, change: Note.change("after"))
        try fleet.run("sleep") { isDone.withLock { $0 } }
        #expect(couch.keptTexts == ["after"])
    }

    @Test func `sleep sends again what an online member has missed`() throws {
        _ = try editor.engage(Note.activity("text"))
        try fleet.poll("the offer") { try couch.offers().count == 1 }
        desk.freezeConnections()
        couch.freezeConnections()
        couch.blockConnections()
        let first = desk.keepAll()
        fleet.pass(KeepingService.sleepTimeout)
        try fleet.run("the timeout") { first.withLock { $0 } }
        try fleet.poll("both attempts have failed") { desk.hasMissed }
        #expect(couch.copies.isEmpty)
        couch.unblockConnections()
        let second = desk.keepAll()
        try fleet.run("sleep") { second.withLock { $0 } }
        #expect(couch.keptTexts == ["text"])
    }

    @Test func `later lists repeat the withdrawal of a former start`() throws {
        var note = Note.activity("former")
        note.keep = true
        let former = try desk.publish(note)
        former.close()
        try waitFor("former")
        try desk.stop()
        try desk.start()
        try fleet.poll("its own copy") { desk.keptTexts == ["former"] }
        _ = try desk.call(.withdraw, ["activity": .string(former.activity.hex)])
        try waitFor()
        let first = try #require(desk.firstGeneration)
        #expect(first > 1)
        let app = try desk.attach("org.example.Editor")
        _ = try app.engage(Note.activity("next"))
        try pass()
        try waitFor("next")
        #expect(desk.firstGeneration == first)
    }

    @Test func `receipts for unknown activities do not use up those of others`() throws {
        let id = try editor.engage(Note.activity("text"))
        let key = try SigningKey(seed: try SecretBytes(random: SigningKey.seedCount))
        try desk.note(
            (0..<1024).map { _ in ActivityID(checked: Randomness.bytes(ActivityID.byteCount)) } + [id], by: key)
        guard case .continued(id, _, _) = try editor.next() else { throw UnexpectedEvent() }
    }

    @Test func `a renewed item keeps its version, so that old and new parts fit together`() throws {
        var sent = Note.activity("sent")
        sent.to = "couch"
        sent.keep = true
        let published = try desk.publish(sent)
        try pass()
        try fleet.poll("the item") { couch.keptParts.count == 1 }
        let first = try #require(couch.keptParts.first)
        fleet.pass(.seconds(7200))
        _ = try desk.status()
        let isDone = desk.keepAll()
        try fleet.run("sleep") { isDone.withLock { $0 } }
        let second = try #require(couch.keptParts.first)
        #expect(second.stamp > first.stamp && second.part == first.part)
        // A client can state any size.
        #expect(desk.refusal(ofFile: .max, for: published.activity)?.contains("the limit in an account of 2") == true)
        #expect(desk.refusal(ofFile: 1 << 20, for: published.activity) == nil)
    }

    @Test func `the sender of a text that does not fit in the copies is notified`() throws {
        var sent = Note.activity("sent")
        sent.to = "couch"
        sent.keep = true
        let published = try (0...KeptLimits.maxCopies).map { _ in try desk.publish(sent) }
        #expect(published.dropLast().allSatisfy { $0.advice == nil })
        #expect(published.last?.advice?.hasPrefix("it is not kept: the items that are kept already leave") == true)
    }

    @Test func `a stored receipt with the greatest time does not end the daemon`() throws {
        var note = Note.activity("text")
        note.keep = true
        let published = try desk.publish(note)
        published.close()
        try waitFor("text")
        let (device, origin) = (try couch.status().device, try desk.status().device)
        try couch.stop()
        let stored = try StateFolder.open(couch.state.path, now: fleet.unixSeconds)
        let receipt = try KeptReceipt(
            device: device, origin: origin, activity: published.activity, time: .max, key: stored.identity)
        try stored.folder.store(receipts: ReceiptsFile(receipts: [receipt]))
        withExtendedLifetime(consume stored) {}
        try couch.start()
        try waitFor("text")
        _ = try couch.continue(ContinueRequest(activity: published.activity.hex, take: true)).result()
        _ = try couch.status()
    }

    @Test func `the times of receipts increase although the clock is set back`() throws {
        var ids: [ActivityID] = []
        for text in ["first", "second"] {
            var note = Note.activity(text)
            note.keep = true
            let published = try desk.publish(note)
            ids.append(published.activity)
            published.close()
        }
        try waitFor("first", "second")
        try desk.vanish(unnoticedBy: couch)
        var times: [UInt64] = []
        for (id, difference) in zip(ids, [400 * 86_400, 0] as [Int64]) {
            couch.clockDifference.withLock { $0 = difference }
            _ = try couch.continue(ContinueRequest(activity: id.hex, take: true)).result()
            try fleet.poll("the receipt") { couch.unconfirmedTimes.count == times.count + 1 }
            times.append(try #require(couch.unconfirmedTimes.max()))
        }
        #expect(times[1] > times[0])
    }

    @Test func `once a clock that was far behind is set, unchanged activities are copied again`() throws {
        _ = try editor.engage(Note.activity("text"))
        try fleet.poll("the offer") { try couch.offers().count == 1 }
        for difference in [-40 * 86_400, 0] as [Int64] {
            desk.clockDifference.withLock { $0 = difference }
            let isDone = desk.keepAll()
            try fleet.run("the copies") { isDone.withLock { $0 } }
            #expect(couch.keptTexts == (difference == 0 ? ["text"] : []), "the couch refuses copies that have expired")
        }
    }

    @Test func `a silent member delays sleep by 2 s at most, and the end of the daemon by 1 s`() throws {
        _ = try editor.engage(Note.activity("text"))
        try fleet.poll("the offer") { try couch.offers().count == 1 }
        desk.freezeConnections()
        couch.freezeConnections()
        couch.blockConnections()
        let isDone = desk.keepAll()
        try fleet.withClockStopped { _ = try desk.status() }
        #expect(!isDone.withLock { $0 })
        fleet.pass(KeepingService.sleepTimeout)
        _ = try desk.status()
        #expect(isDone.withLock { $0 })

        let hasStopped = try #require(desk.beginToStop())
        fleet.pass(KeepingService.stopTimeout)
        try fleet.run("the desk has stopped") { hasStopped.withLock { $0 } }
    }
}
