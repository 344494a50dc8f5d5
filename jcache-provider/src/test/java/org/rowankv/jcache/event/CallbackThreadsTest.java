package org.rowankv.jcache.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;

/** A thread is inside a callback until the outermost one ends. */
final class CallbackThreadsTest {
    private final CallbackThreads callbacks = new CallbackThreads();

    @Property(tries = 200)
    void shouldKnowAThreadAsInsideUntilTheOutermostCallbackEnds(@ForAll @Size(max = 12) List<Boolean> begins)
            throws InterruptedException {
        int depth = 0;
        for (boolean begin : begins) {
            if (begin) {
                callbacks.enter();
                depth++;
            } else if (depth > 0) {
                callbacks.exit();
                depth--;
            }
            assertThat(callbacks.isCurrentInside()).as("at depth %d", depth).isEqualTo(depth > 0);
        }
        final boolean[] inside = {true};
        final Thread other = new Thread(() -> inside[0] = callbacks.isCurrentInside());
        other.start();
        other.join();
        assertThat(inside[0]).as("of another thread").isFalse();
        for (; depth > 0; depth--) {
            assertThat(callbacks.isCurrentInside()).isTrue();
            callbacks.exit();
        }
        assertThat(callbacks.isCurrentInside()).isFalse();
    }
}
