package org.rowankv.server.membership;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/**
 * A textual address: {@code host:port} or {@code [v6]:port}.
 *
 * @param host name or number, without brackets
 * @param port 0..65535
 */
public record HostAndPort(String host, int port) {
    private static final int MAX_PORT = 65535;

    /** @throws IllegalArgumentException if the text is not an address; the message states why */
    public static HostAndPort parse(String text) {
        final int colon = text.lastIndexOf(':');
        final boolean bracketed = text.startsWith("[");
        final int end = bracketed ? text.indexOf("]:") + 1 : colon;
        if (colon < 0 || end < 1 || end != colon || !bracketed && text.indexOf(':') != colon) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no address: write host:port, and an IPv6 address in brackets, [::1]:7171");
        }
        final int port;
        try {
            port = Integer.parseInt(text.substring(colon + 1));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' has no port: " + e.getMessage());
        }
        if (port < 0 || port > MAX_PORT) {
            throw new IllegalArgumentException("the port of '" + text + "' is not 0.." + MAX_PORT);
        }
        final String host = bracketed ? text.substring(1, end - 1) : text.substring(0, colon);
        if (host.isBlank() || !host.equals(host.strip())) {
            throw new IllegalArgumentException("'" + text + "' has no host");
        }
        return new HostAndPort(host, port);
    }

    /**
     * Checks that others can connect to it.
     *
     * @throws IllegalArgumentException if it is unreachable; the message states why
     */
    public HostAndPort requireReachable() {
        if (port == 0) {
            throw new IllegalArgumentException("port 0 of " + host + " is not reachable: advertise the real port");
        }
        final InetAddress address;
        try {
            address = InetAddress.getByName(host);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(
                    "the host '" + host + "' of the advertised address " + this
                            + " is unknown here: advertise a name or number at which other servers and clients reach this server");
        }
        if (address.isAnyLocalAddress() || address.isMulticastAddress()) {
            throw new IllegalArgumentException(
                    this + " is not reachable: it is a wildcard or multicast address. Advertise the one at which other"
                            + " servers and clients reach this server");
        }
        return this;
    }

    /** Resolves the host now; the result is unresolved if the host is unknown. */
    public InetSocketAddress resolve() {
        return new InetSocketAddress(host, port);
    }

    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
}
