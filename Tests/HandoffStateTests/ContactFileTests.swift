import HandoffState
import Testing

struct ContactFileTests {
    @Test func `a time is read back as written, and an invalid one is ignored`() {
        let file = ContactFile(unixSeconds: 1_800_000_000)
        #expect(ContactFile(decoding: file.encoded()) == file)
        for text in ["", "\n", "12", "-1\n", "99999999999999999999\n", "x\n", "1\n\n"] {
            #expect(ContactFile(decoding: Array(text.utf8)) == nil, "\(text)")
        }
    }
}
