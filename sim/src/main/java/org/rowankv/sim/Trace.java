package org.rowankv.sim;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The sequence of events: as a hash, which two runs of one seed must share, and on request as text. */
public final class Trace {
    private final @Nullable Consumer<String> reader;
    private final Timeline timeline;
    private long hash = 0x9E3779B97F4A7C15L;

    public Trace(@Nullable Consumer<String> reader, Timeline timeline) {
        this.reader = reader;
        this.timeline = timeline;
    }

    public long hash() {
        return hash;
    }

    public void mix(long value) {
        final long first = (hash ^ value) * 0xBF58476D1CE4E5B9L;
        hash = first ^ first >>> 29;
    }

    /** Whether text is requested: it costs more than the rest of a run. */
    public boolean isRead() {
        return reader != null;
    }

    public void tell(String words) {
        if (reader != null) {
            reader.accept(String.format("%12.3f ms  %s", timeline.nowNs() / 1e6, words));
        }
    }

    /** A failure with its stack and its causes. */
    public static String describe(Throwable failure) {
        final StringBuilder text = new StringBuilder(failure.toString());
        for (StackTraceElement frame : failure.getStackTrace()) {
            text.append("\n      at ").append(frame);
        }
        return failure.getCause() == null ? text.toString() : text + "\n    caused by " + describe(failure.getCause());
    }
}
