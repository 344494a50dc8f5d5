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
 * The questions of one connection to the catalogue that have no answer yet: few of them, since all connections share one thread,
 * and charged to the loop's memory. What is too much is refused at once. Owned by the loop of the connection.
 */
public final class CatalogueRequests {
    /** Questions of one connection that wait for the catalogue. */
    static final int MAX_WAITING = 16;
    /** While memory is short, a longer question is refused: nothing else bounds how long it waits for the catalogue. */
    private static final int SHORT_LENGTH = 4 << 10;
    /** Of a question, besides its frame. */
    private static final int OVERHEAD = 512;

    private static final Answer TOO_MANY = refusal("too many questions of this connection wait for the catalogue");
    private static final Answer NO_MEMORY = refusal("the server is short of memory for questions to the catalogue");

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

    /** Takes a question. Its answer comes later, by {@link ClientConnection#answerLater}. */
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
        boolean handed = false;
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
            handed = true;
        } finally {
            if (!handed) {
                charge(-1, -charge);
            }
        }
    }

    private void charge(int questions, int bytes) {
        waiting += questions;
        memory.changed(bytes);
    }

    private void answer(long number, Answer answer) {
        connection.answerLater(out -> CatalogueDescriptor.writeAnswer(out, number, answer));
    }
}
