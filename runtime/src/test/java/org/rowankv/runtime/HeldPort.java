package org.rowankv.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;

/**
 * A port of the loopback address for one listener, which may come late and more than once. It is bound all the time, so
 * nothing that asks for any port gets it; until there is a listener, connections are refused.
 */
public final class HeldPort implements AutoCloseable {
    private final Socket holder = new Socket();

    public HeldPort() {
        try {
            holder.setReuseAddress(true); // beside a listener, which has set it too
            holder.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public int number() {
        return holder.getLocalPort();
    }

    @Override
    public void close() {
        try {
            holder.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
