package org.rowankv.server.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.rowankv.server.area.StoreOpenException;

class ManifestTest {
    private static final Manifest MANIFEST = new Manifest(true, -3, new StoreShape(3, 2, 1L << 33, 48, 4 << 20), 123);

    @Test
    void shouldReadBackWhatWasWritten() {
        assertThat(Manifest.decode("m", MANIFEST.encode())).isEqualTo(MANIFEST);
        final Manifest begun = new Manifest(false, 1, MANIFEST.shape(), 0);
        assertThat(Manifest.decode("m", begun.encode())).isEqualTo(begun);
        assertThat(begun.completed().complete()).isTrue();
        assertThat(MANIFEST.encode().length).isLessThan(Manifest.MAX_LENGTH);
    }

    @Test
    void shouldRefuseEveryChangedOrMissingByte() {
        final byte[] bytes = MANIFEST.encode();
        for (int i = 0; i < bytes.length - 1; i++) {
            final byte[] changed = bytes.clone();
            changed[i] ^= 1;
            final int at = i;
            assertThatThrownBy(() -> Manifest.decode("m", changed))
                    .as("byte %d", at)
                    .isInstanceOf(StoreOpenException.class)
                    .hasMessageContaining("m");
            assertThatThrownBy(() -> Manifest.decode("m", Arrays.copyOf(bytes, at)))
                    .as("length %d", at)
                    .isInstanceOf(StoreOpenException.class);
        }
    }

    @Test
    void shouldBeTextForPeople() {
        assertThat(new String(MANIFEST.encode(), StandardCharsets.US_ASCII))
                .startsWith("rowan-kv store\nformat=1\nstate=complete\n")
                .contains("\nservers=3\nreplicas=2\ncapacity=8589934592\nshards=48\n");
    }
}
