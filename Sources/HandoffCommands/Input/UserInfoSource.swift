import HandoffJSON
import HandoffModel
import LoopIO

/// The source of userInfo for `publish`: the command line, or a file that is re-read at every save.
enum UserInfoSource: Equatable {
    /// An object given on the command line.
    case inline(JSONObject)
    /// The path of a file with such an object.
    case file(String)

    /// The maximum file size, in bytes. A larger object could not be published.
    private static let maxFile = Limits.payloadMaximum

    /// Parses the value of `--user-info`.
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
    /// - Throws: `CommandFailure` with status 2 if the file is not valid userInfo, or 1 if it
    ///   cannot be read.
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

/// An object read from a source.
struct UserInfoReading: Equatable {
    let object: JSONObject
    /// True if reading again could return a different object; false for the command line and pipes.
    let mayChange: Bool
}
