package org.rowankv.driver.net;

import java.nio.ByteBuffer;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.wire.FrameEncoder;

/** A message over a connection that is no {@link org.rowankv.protocol.Request}. */
public interface ControlRequest {
    /** In place of a shard: the request is for the server, as long as it is a member of the cluster. */
    int SERVER = -1;
    /** In place of a shard: the request ends with the configuration that it was routed by. */
    int CONFIGURATION = -2;

    /** The shard whose primary it is for, or one of the constants. */
    default int shard() {
        return SERVER;
    }

    /** Called by the writing thread. */
    void write(FrameEncoder out, long number);

    /** Called by the reading thread when the frame with that number has arrived. */
    void read(ByteBuffer buffer, int at, int length) throws WireException;
}
