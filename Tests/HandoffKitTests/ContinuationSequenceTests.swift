import Dispatch
import Foundation
import HandoffKit
import HandoffTesting
import Testing

private let editing = "com.example.editing"

@Suite struct ContinuationSequenceTests {
    private let loopback: HandoffLoopback
    private let laptop: LoopbackDevice
    private let application: HandoffApplication

    init() throws {
        loopback = try HandoffLoopback()
        laptop = try loopback.device("Laptop")
        application = laptop.application(callbackQueue: DispatchQueue(label: "continuations"))
    }

    private func hand(_ page: Int, within limit: Duration = .seconds(120)) async throws {
        try await laptop.hand(LoopbackActivity(activityType: editing, userInfo: ["page": page]), within: limit)
    }

    @Test(.timeLimit(.minutes(1))) func `every activity of a type arrives in order`() async throws {
        let activities = application.continuations(of: editing)
        for page in 1...3 { try await hand(page) }
        var pages: [Int] = []
        for await activity in activities {
            pages.append(try #require(activity.userInfo?["page"] as? Int))
            if pages.count == 3 { break }
        }
        #expect(pages == [1, 2, 3])
    }

    @Test(.timeLimit(.minutes(1))) func `several sequences each receive every activity`() async throws {
        var first = application.continuations(of: editing).makeAsyncIterator()
        var second = application.continuations(of: editing).makeAsyncIterator()
        try await hand(1)
        #expect(await first.next()?.activityType == editing)
        #expect(await second.next()?.activityType == editing)
    }

    @Test(.timeLimit(.minutes(1))) func `the type is declared while the sequence exists`() async throws {
        do {
            let activities = application.continuations(of: editing)
            try await hand(1)
            withExtendedLifetime(activities) {}
        }
        // The type is removed asynchronously. The time limit also ends this.
        var reason = ""
        while reason != "noHandler" {
            try Task.checkCancellation()
            do {
                try await hand(2, within: .milliseconds(20))
            } catch let error as HandoffError {
                reason = error.reason
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a task that is cancelled ends its sequence`() async throws {
        let application = application
        let task = Task { for await _ in application.continuations(of: editing) {} }
        try await hand(1)
        task.cancel()
        await task.value
    }

    @Test(.timeLimit(.minutes(1))) func `a handler takes precedence over a sequence`() async throws {
        let (handled, continuation) = AsyncStream.makeStream(of: Int.self)
        let activities = application.continuations(of: editing)
        application.onContinue(editing, queue: .global()) { _ in continuation.yield(1) }
        try await hand(1)
        var iterator = handled.makeAsyncIterator()
        #expect(await iterator.next() == 1)
        withExtendedLifetime(activities) {}
    }
}
