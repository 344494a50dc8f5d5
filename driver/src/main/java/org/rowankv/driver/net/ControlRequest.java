package org.rowankv.driver.net;

import java.nio.ByteBuffer;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.wire.FrameEncoder;

/** Something that is asked over a connection and is no {@link org.rowankv.protocol.Request}. */
public interface ControlRequest {
    /** By whichever thread writes. */
    void write(FrameEncoder out, long number);

    /** By whichever thread reads: the frame with that number has come. */
    void read(ByteBuffer buffer, int at, int length) throws WireException;
}
