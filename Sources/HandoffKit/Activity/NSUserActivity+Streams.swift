public import Foundation
import HandoffClient
import HandoffControl
import HandoffModel
import LoopIO

extension NSUserActivity {
    /// Requests a stream from the app that published this activity. Available only for an activity
    /// that is continued here, while both devices are online. Each call opens another stream.
    /// - Parameter completionHandler: receives both directions, which are not open yet, or an error
    ///   in `NSCocoaErrorDomain`. The error is 3328, without delay, if the activity is not
    ///   continued here or does not support streams. Called on the callback queue.
    public func getContinuationStreams(
        completionHandler: @escaping @Sendable (InputStream?, OutputStream?, (any Error)?) -> Void
    ) {
        openStream { [application] result in
            application.callback { _ in
                switch result {
                case .success(let socket):
                    let (input, output) = socket.streams()
                    completionHandler(input, output, nil)
                case .failure(let error): completionHandler(nil, nil, error.cocoaError)
                }
            }
        }
    }

    /// Requests a stream from the app that published this activity, like `getContinuationStreams`.
    /// - Returns: both directions, which are not open yet.
    /// - Throws: an error in `NSCocoaErrorDomain`.
    public func continuationStreams() async throws -> (InputStream, OutputStream) {
        try await socket().streams()
    }

    /// Requests a stream from the app that published this activity, like `getContinuationStreams`.
    /// - Returns: the stream, for asynchronous code.
    /// - Throws: an error in `NSCocoaErrorDomain`.
    public func continuationByteStream() async throws -> HandoffByteStream {
        HandoffByteStream(try await socket())
    }

    private func socket() async throws -> StreamSocket {
        let result = await withCheckedContinuation { continuation in
            openStream { continuation.resume(returning: $0) }
        }
        do throws(HandoffError) {
            return try result.get()
        } catch {
            throw error.cocoaError
        }
    }

    private func openStream(_ then: @escaping @Sendable (Result<StreamSocket, HandoffError>) -> Void) {
        guard let continuation else { return then(.failure(.notContinued)) }
        guard continuation.streams else {
            return then(.failure(HandoffError(.streamsUnsupported(device: continuation.origin.deviceName))))
        }
        do throws(Errno) {
            let connection = try application.connected()
            connection.loop.perform { connection.open(.continuation(continuation.id), path: continuation.path, then) }
        } catch {
            then(.failure(HandoffError(.notReachable(path: continuation.path, reason: "\(error)"))))
        }
    }
}
