import FuzzSupport
import HandoffJSON
import HandoffModel

/// JSON: what is read can be written, and reads the same again; so does userInfo through its typed form.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let limits = JSONLimits(bytes: 1 << 16)
    guard let value = try? JSON(parsing: Input(pointer, count).rest, limits: limits) else { return 0 }
    let text = value.encoded()
    require(value.encodedCount == text.count, "the count of bytes is another one")
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
