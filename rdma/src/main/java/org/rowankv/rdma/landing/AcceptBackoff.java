package org.rowankv.rdma.landing;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handler of failures to accept connections, for example if descriptors are exhausted: logs the 1st, 10th, 100th …
 * failure. Open connections continue. On the listener's event loop.
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
                    "ROWAN-3004 No further server can connect to {}: {}. Those that are connected go on; it is tried"
                            + " again every second ({} attempts so far)",
                    context.channel().localAddress(),
                    cause.toString(),
                    failures);
        }
    }
}
