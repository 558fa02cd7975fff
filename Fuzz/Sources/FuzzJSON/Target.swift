import FuzzSupport
import HandoffJSON
import HandoffModel

/// JSON: every value that is read can be written, and reads the same again. So does userInfo
/// through its typed form. The result of the single-pass reader is that of jansson, which handles
/// the input if a key contains an escape.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let limits = JSONLimits(bytes: 1 << 16)
    let input = Input(pointer, count).rest
    let (plain, byJansson) = (read("k", input), read("\\u006b", input))
    require(plain == byJansson, "jansson reads a different value, or none")
    guard let value = try? JSON(parsing: input, limits: limits) else { return 0 }
    let text = value.encoded()
    require(value.encodedCount == text.count, "the number of bytes differs")
    let again = try? JSON(parsing: text, limits: JSONLimits(bytes: text.count))
    require(again == value, "encoded JSON reads differently")
    require(again?.encoded() == text, "encoding is not stable")
    guard let object = value.object else { return 0 }
    let isValid = (try? UserInfo.validate(object)) != nil
    guard let typed = try? UserInfoValue(tagged: value) else {
        require(!isValid, "valid userInfo has no typed form")
        return 0
    }
    let tagged = try? UserInfoValue(tagged: typed.tagged())
    require(tagged == typed, "the tagged form reads differently")
    if let content = try? ActivityContent(payload: object) {
        let payload = content.encodedPayload()
        require((try? ActivityContent(payload: payload)) == content, "a payload reads differently")
    }
    return 0
}

/// Returns the value of an object whose only member is the text of a value.
private func read(_ key: String, _ value: [UInt8]) -> JSON? {
    let text = Array("{\"\(key)\":".utf8) + value + Array("}".utf8)
    return try? JSON(parsing: text, limits: JSONLimits(bytes: 1 << 17, depth: 12, members: 100, values: 1000))
}
