package org.rowankv.server.catalogue;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.rowankv.server.configstore.NodePath;

/** The node names of two caches differ, however long the cache names are and however little they differ. */
final class CacheNameTest {
    /** Short names are encoded directly; about from the middle on a name is a hash. */
    @Provide
    Arbitrary<String> names() {
        return Arbitraries.oneOf(
                Arbitraries.strings().all().ofMinLength(1).ofMaxLength(60),
                Arbitraries.strings().withCharRange('a', 'z').ofMinLength(1).ofMaxLength(300));
    }

    @Property(tries = 500)
    void shouldTellNamesApartThatDifferInOneBit(
            @ForAll("names") String name, @ForAll @IntRange(max = 299) int at, @ForAll @IntRange(max = 15) int bit) {
        final char[] changed = name.toCharArray();
        changed[at % changed.length] ^= (char) (1 << bit);
        assertThat(CacheName.encode(new String(changed))).isNotEqualTo(CacheName.encode(name));
    }

    @Property(tries = 200)
    void shouldTellANameFromAllThatItBeginsWith(@ForAll("names") String name) {
        for (int length = 0; length < name.length(); length++) {
            assertThat(CacheName.encode(name.substring(0, length))).isNotEqualTo(CacheName.encode(name));
        }
    }

    @Property(tries = 200)
    void shouldMakeANameThatEveryStoreCanHold(@ForAll("names") String name) {
        final String path = "/" + CacheName.encode(name);
        assertThat(NodePath.require(path)).isEqualTo(path);
    }
}
