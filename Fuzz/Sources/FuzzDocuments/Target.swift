import FuzzSupport
import HandoffDocuments

/// URLs of documents and files, addresses of repositories, git's configuration, and the file of
/// shared roots. The first byte selects one.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    let kind = input.byte() % 5
    let text = String(decoding: input.rest, as: UTF8.self)
    switch kind {
    case 0:
        guard let url = DocumentURL(text) else { break }
        require(DocumentURL(url.text) == url, "a document reads differently")
        let isBelow = url.components.allSatisfy { component in
            component != "." && component != ".." && !component.isEmpty
                && !component.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
        }
        require(isBelow, "a component leads elsewhere")
    case 1:
        guard let file = FileURL(text), let path = file.path else { break }
        require(path.utf8.first == UInt8(ascii: "/") && !path.utf8.contains(0), "an invalid path")
    case 2:
        guard let identity = RepositoryIdentity(remote: text) else { break }
        require(RepositoryIdentity(normalized: identity.text) == identity, "a repository reads differently")
        require(!identity.text.utf8.contains(UInt8(ascii: "@")), "a user is part of it")
    case 3: _ = GitConfig.origin(input.rest)
    default:
        let (roots, problems) = DocumentsFile.parse(input.rest, path: "f", home: "/home")
        require(roots.folders.allSatisfy { $0.path.utf8.first == UInt8(ascii: "/") }, "an invalid folder")
        require(problems.allSatisfy { $0.place.hasPrefix("f:") }, "a problem without its position")
    }
    return 0
}
