package org.rowankv.driver.net;

import java.nio.ByteBuffer;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.wire.FrameEncoder;

/** A message over a connection that is no {@link org.rowankv.protocol.Request}. */
public interface ControlRequest {
    /** Called by the writing thread. */
    void write(FrameEncoder out, long number);

    /** Called by the reading thread when the frame with that number has arrived. */
    void read(ByteBuffer buffer, int at, int length) throws WireException;
}
