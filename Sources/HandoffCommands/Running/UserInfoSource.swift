import HandoffJSON
import HandoffModel
import LoopIO

/// Where `publish` takes userInfo from: the command line, or a file that is read again at every save.
enum UserInfoSource: Equatable {
    /// An object that was given on the command line.
    case inline(JSONObject)
    /// The path of a file that holds such an object.
    case file(String)

    /// The largest file that is read, in bytes: more could never be published.
    private static let maxFile = Limits.payloadMaximum

    /// Understands the value of `--user-info`.
    init(_ text: String) throws(UsageError) {
        if text.hasPrefix("@") {
            let path = String(text.dropFirst())
            if path.isEmpty { throw .emptyValue(of: "the file name after --user-info @") }
            self = .file(path)
        } else {
            self = .inline(try ArgumentValue.userInfo(text.systemBytes, source: "--user-info"))
        }
    }

    /// Reads the object.
    /// - Throws: `CommandFailure`: with status 2 when a file's content is no userInfo, with 1 when it cannot be read.
    func read() throws(CommandFailure) -> UserInfoReading {
        switch self {
        case .inline(let object): return UserInfoReading(object: object, mayChange: false)
        case .file(let path):
            let file: LocalFile
            do {
                file = try LocalFile.read(path, limit: Self.maxFile)
            } catch {
                throw .file("read", path, why: "\(error)")
            }
            do {
                let object = try ArgumentValue.userInfo(file.bytes, source: path)
                return UserInfoReading(object: object, mayChange: file.isRegular)
            } catch {
                throw CommandFailure(error)
            }
        }
    }
}

/// What was read from a source.
struct UserInfoReading: Equatable {
    let object: JSONObject
    /// Whether reading again could give something else: not so for the command line and for pipes.
    let mayChange: Bool
}
