package org.rowankv.server.membership;

/**
 * A server's registration in the configuration store, in a node that only it writes.
 *
 * @param name of the server
 * @param identity of its data directory
 * @param address for other servers
 * @param clients address for clients; empty if there is none
 * @param admin address of the admin port; empty if there is none
 * @param zone of the machine, or empty
 * @param shape of the cluster, as configured
 * @param incarnation that has read its area and waits for roles, or has them; 0: none yet
 * @param nonce of the process that is that incarnation; 0 with incarnation 0
 */
public record ServerRegistration(
        String name,
        long identity,
        HostAndPort address,
        String clients,
        String admin,
        String zone,
        ClusterShape shape,
        long incarnation,
        long nonce) {
    private static final String FIRST_LINE = "rowan-kv announcement";

    public byte[] encode() {
        final TextRecord lines = TextRecord.begin(FIRST_LINE)
                .put("name", name)
                .putHex("identity", identity)
                .put("address", address.toString())
                .put("clients", clients)
                .put("admin", admin)
                .put("zone", zone)
                .put("incarnation", incarnation)
                .putHex("nonce", nonce);
        shape.write(lines);
        return lines.encode();
    }

    public static ServerRegistration decode(String where, byte[] bytes) {
        final TextRecord lines = TextRecord.decode(where, FIRST_LINE, bytes);
        return new ServerRegistration(
                lines.text("name"),
                lines.hex("identity"),
                HostAndPort.parse(lines.text("address")),
                lines.text("clients"),
                lines.text("admin"),
                lines.text("zone"),
                ClusterShape.read(lines),
                lines.number("incarnation", 0, Long.MAX_VALUE),
                lines.hex("nonce"));
    }
}
