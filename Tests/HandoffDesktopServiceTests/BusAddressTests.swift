import DesktopBus
import HandoffTestSupport
import LoopIO
import Testing

/// The places of a bus, and the watched folders until it exists.
struct BusPlaceTests {
    @Test(arguments: [
        ("unix:path=/run/user/1000/bus", ["/run/user/1000/bus"]),
        ("unix:path=/a%2Cb,guid=12;unix:guid=1,path=/c", ["/a,b", "/c"]),
    ])
    func `paths are parsed`(_ addresses: String, _ paths: [String]) {
        #expect(BusAddress(addresses: addresses)?.paths == paths)
    }

    @Test(arguments: [
        "", "unix:", "unix:abstract=/tmp/x", "tcp:host=localhost,port=1", "unix:path=relative", "unix:path=/a%2",
        "unix:path=/a;autolaunch:", "unix:path=/%FF",
    ])
    func `an address without a path cannot be watched`(_ addresses: String) {
        #expect(BusAddress(addresses: addresses) == nil)
    }

    @Test func `until its folder exists, the nearest existing parent is watched`() throws {
        let scratch = try ScratchFolder()
        let place = try #require(BusAddress(addresses: "unix:path=\(scratch.path)/a/b/bus;unix:path=\(scratch.path)/c"))
        #expect(place.folders == [scratch.path: .names(["a", "c"])])
        #expect(!place.exists)
        #expect(BusAddress(addresses: "unix:path=\(scratch.path)")?.exists == true)
    }
}
