import FuzzSupport
import HandoffJSON
import HandoffModel
import JanssonOracle

/// JSON: every value that is read can be written, and reads the same again. So does userInfo
/// through its typed form. Jansson reads the same value, or rejects the text too.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let limits = JSONLimits(bytes: 1 << 16)
    let input = Input(pointer, count).rest
    for limits in [limits, JSONLimits(bytes: 1 << 16, depth: 4, members: 20, values: 40)] {
        let value = try? JSON(parsing: input, limits: limits)
        require(value == JanssonOracle.parse(input, limits: limits), "Jansson reads another value, or rejects it")
    }
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
