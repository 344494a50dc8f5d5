package org.rowankv.daemon.local;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SecureSeed;

/**
 * Consecutive free ports of the loopback address. They lie below the ephemeral range of operating systems, so outgoing
 * connections do not take them.
 */
public final class LocalPorts {
    private static final int LOWEST = 12_000;
    private static final int HIGHEST = 32_000;
    private static final int TRIES = 1_000;

    private LocalPorts() {}

    /**
     * The first of that many.
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
        throw new IOException("there are no " + count + " consecutive free ports");
    }

    private static boolean isFree(int port) {
        try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return probe.isBound();
        } catch (IOException e) {
            return false; // in use
        }
    }
}
