package org.rowankv.server.frontend;

import java.nio.ByteBuffer;
import java.util.List;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.wire.CatalogueDescriptor;
import org.rowankv.protocol.wire.CatalogueDescriptor.Answer;
import org.rowankv.protocol.wire.CatalogueDescriptor.Asked;
import org.rowankv.protocol.wire.CatalogueDescriptor.Cache;

/**
 * The pending catalogue requests of one connection. Their number is bounded, since all connections share one catalogue
 * thread; their bytes are charged to the loop's memory budget. A request beyond these limits is refused at once. Owned
 * by the loop of the connection.
 */
public final class CatalogueRequests {
    /** Pending catalogue requests of one connection. */
    static final int MAX_WAITING = 16;
    /** While memory is short, a longer request is refused: nothing else bounds how long it waits for the catalogue. */
    private static final int SHORT_LENGTH = 4 << 10;
    /** Charged per request, besides its frame. */
    private static final int OVERHEAD = 512;

    private static final Answer TOO_MANY = refusal("too many catalogue requests of this connection are pending");
    private static final Answer NO_MEMORY = refusal("the server is short of memory for catalogue requests");

    private final ClientConnection connection;
    private final LoopMemoryBudget memory;
    private int waiting;

    CatalogueRequests(ClientConnection connection, LoopMemoryBudget memory) {
        this.connection = connection;
        this.memory = memory;
    }

    private static Answer refusal(String text) {
        return new Answer(Status.FULL, 0, List.of(), text);
    }

    /** Accepts a request. {@link ClientConnection#answerLater} sends the answer later. */
    void ask(ByteBuffer buffer, int at, int length) throws WireException {
        final Asked asked = CatalogueDescriptor.asked(buffer, at);
        final long number = FrameHeadDescriptor.number(buffer, at);
        if (waiting >= MAX_WAITING) {
            answer(number, TOO_MANY);
        } else if (memory.isShort() && length > SHORT_LENGTH) {
            answer(number, NO_MEMORY);
        } else {
            ask(number, asked, CatalogueDescriptor.readAsked(buffer, at, length), length + OVERHEAD);
        }
    }

    private void ask(long number, Asked asked, Cache cache, int charge) {
        final ClientEventLoop loop = connection.loop();
        charge(1, charge);
        boolean submitted = false;
        try {
            loop.port()
                    .catalogue()
                    .ask(
                            asked,
                            cache,
                            answer -> loop.execute(() -> {
                                charge(-1, -charge);
                                answer(number, answer);
                            }));
            submitted = true;
        } finally {
            if (!submitted) {
                charge(-1, -charge);
            }
        }
    }

    private void charge(int requests, int bytes) {
        waiting += requests;
        memory.changed(bytes);
    }

    private void answer(long number, Answer answer) {
        connection.answerLater(out -> CatalogueDescriptor.writeAnswer(out, number, answer));
    }
}
