package org.rowankv.rdma.tcp;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears of failures to accept a server's connection, as when descriptors are exhausted: says so at the first and at every
 * tenfold. Connections that are open go on. On the event loop of the listener.
 */
final class AcceptBackoff extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(AcceptBackoff.class);

    private long failures;
    private long next = 1;

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        failures++;
        if (failures == next) {
            next *= 10;
            LOG.warn(
                    "No further server can connect to {}: {}. Those that are connected go on; it is tried again every second"
                            + " ({} attempts so far)",
                    context.channel().localAddress(),
                    cause.toString(),
                    failures);
        }
    }
}
