package org.rowankv.server.digest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Version;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.recovery.LoggedServer;

final class EntryAssemblerTest {
    private final LoggedServer server = new LoggedServer(0);
    private final Segments segments = server.segments();
    private final EntryAssembler assembler = new EntryAssembler(segments, 0);
    private long assembledAt;

    private final EntryAssembler.Handler handler = new EntryAssembler.Handler() {
        @Override
        public void onAssembled(long address, int type, int length) {
            assembledAt = address;
        }

        @Override
        public boolean accepts(ByteBuffer entry, int at, int type) {
            return true;
        }

        @Override
        public void onBlockDone(long address, int length, boolean repeated) {
            assertThat(repeated).isFalse();
        }
    };

    /** Some blocks of a replica that is catching up are older than their segment. */
    @Test
    void shouldCountWhatIsPutTogetherAsOldAsItsOldestBlock() {
        server.put(Version.of(1, 1), "before", 100);
        server.closeSegment();
        server.putInBlocks(Version.of(1, 2), "large", 1_000);
        final int blocksIn = server.openSegment();
        assertThat(segments.horizon(blocksIn)).isEqualTo(2);
        segments.lowerHorizon(blocksIn, 1);

        new SegmentScan(segments.region())
                .scan(
                        segments.area().addressOf(blocksIn),
                        segments.length(),
                        segments.generation(blocksIn),
                        new SegmentScan.Visitor() {
                            @Override
                            public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
                                assembler.block(address, length, handler);
                            }

                            @Override
                            public void onInvalid(long address, String reason) {
                                throw new AssertionError(reason);
                            }
                        });
        assertThat(assembler.assemble(handler)).isEqualTo(1);

        final int segment = segments.segmentOf(assembledAt);
        assertThat(segment).isNotEqualTo(blocksIn);
        assertThat(segments.horizon(segment)).isEqualTo(1);
    }
}
