package org.rowankv.daemon.local;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SecureSeed;

/**
 * Ports of the loopback address that are free now, one after the other. They lie below those that systems give to outgoing
 * connections, so that nothing takes one of them before it is listened at, except somebody who wants exactly that one.
 */
public final class LocalPorts {
    private static final int LOWEST = 12_000;
    private static final int HIGHEST = 32_000;
    private static final int TRIES = 1_000;

    private LocalPorts() {}

    /**
     * The first of so many.
     *
     * @throws IOException if there are none
     */
    public static int free(int count) throws IOException {
        final RandomSource random = SecureSeed.source();
        for (int tries = 0; tries < TRIES; tries++) {
            final int first = LOWEST + random.nextInt(HIGHEST - LOWEST - count);
            int port = first;
            while (port < first + count && isFree(port)) {
                port++;
            }
            if (port == first + count) {
                return first;
            }
        }
        throw new IOException("there are no " + count + " free ports one after the other");
    }

    private static boolean isFree(int port) {
        try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return probe.isBound();
        } catch (IOException e) {
            return false; // somebody listens there
        }
    }
}
