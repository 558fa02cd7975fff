package import HandoffDiscovery
package import LoopIO

extension DiscoveredService {
    /// What is seen of a publication, at other addresses.
    package init(_ publication: Publication, addresses: [SocketAddress]) {
        self.init(
            instance: publication.instance, text: publication.text, port: publication.port, addresses: addresses)
    }
}
