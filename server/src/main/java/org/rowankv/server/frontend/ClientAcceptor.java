package org.rowankv.server.frontend;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.rowankv.protocol.frame.WireFault;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts the connections of a client port and assigns them to its loops round-robin. Owned by the loop that watches
 * the listener.
 */
final class ClientAcceptor implements BooleanSupplier {
    private static final Logger LOG = LoggerFactory.getLogger(ClientAcceptor.class);
    private static final int MAX_ACCEPTED_AT_ONCE = 64;

    private final ClientPort port;
    private final ServerSocketChannel listener;
    private final List<ClientEventLoop> loops;
    private int nextLoop;
    private boolean pausing;
    private long exhaustions;

    ClientAcceptor(ClientPort port, ServerSocketChannel listener, List<ClientEventLoop> loops) {
        this.port = port;
        this.listener = listener;
        this.loops = loops;
    }

    /** Accepts all waiting connections; false if accepting fails for now. */
    @Override
    public boolean getAsBoolean() {
        try {
            for (int i = 0; i < MAX_ACCEPTED_AT_ONCE; i++) {
                final SocketChannel channel = listener.accept();
                onAccepting();
                if (channel == null) {
                    return true;
                }
                // The handshake refuses an excess connection with a reason; far above the limit it is closed without
                // one.
                if (port.counts().accepted() > 2L * port.settings().maxConnections() + MAX_ACCEPTED_AT_ONCE) {
                    port.faults()
                            .report(
                                    WireFault.TOO_MANY_CONNECTIONS,
                                    channel.getRemoteAddress(),
                                    WireFault.TOO_MANY_CONNECTIONS.text());
                    ClientPort.closeQuietly(channel);
                    port.connectionClosed();
                    continue;
                }
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
                loops.get(nextLoop).adopt(channel);
                nextLoop = (nextLoop + 1) % loops.size();
            }
            return true;
        } catch (ClosedChannelException e) {
            LOG.debug("The client port was closed", e);
            return true;
        } catch (IOException e) {
            onNotAccepting(e);
            return false;
        }
    }

    /** For example, file descriptors are exhausted. Open connections are served all the same. */
    private void onNotAccepting(IOException why) {
        final long pauses = port.counts().countAcceptPause();
        if (!pausing && isPowerOfTen(++exhaustions)) {
            LOG.warn(
                    "ROWAN-2008 Client port accept paused: server={} cause={} retryMs={} pauses={} attempts={}; open"
                            + " connections are served",
                    port.serverId(),
                    why.getMessage(),
                    ClientEventLoop.CHECK_MS,
                    exhaustions,
                    pauses);
        }
        pausing = true;
    }

    private void onAccepting() {
        if (pausing) {
            pausing = false;
            if (isPowerOfTen(exhaustions)) {
                LOG.info("Client port accept resumed: server={}", port.serverId());
            }
        }
    }

    private static boolean isPowerOfTen(long value) {
        long power = 1;
        while (power < value) {
            power *= 10;
        }
        return power == value;
    }
}
