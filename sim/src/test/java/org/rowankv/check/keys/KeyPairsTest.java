package org.rowankv.check.keys;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.TestScale;

/** Keys that are equal have equal bytes, whatever they are made of; others have others. */
@Tag("jvm")
class KeyPairsTest {
    /** Each shape some hundred times; with -Pall a million pairs. */
    @Test
    void shouldNeitherMissNorConfuseKeysOfAnyShape() {
        final KeyPairs pairs = new KeyPairs(20_250_101);
        pairs.compare(TestScale.of(20_000, 1_000_000));
        assertThat(KeyPairs.shapes()).isGreaterThanOrEqualTo(40);
        assertThat(pairs.findings()).isEmpty();
        assertThat(pairs.misses() + pairs.confused()).isZero();
        assertThat(pairs.unequal()).isGreaterThan(pairs.pairs() / 2);
    }

    /** It has other identity hash codes, another order of Set.of, and loads the classes in another order. */
    @Test
    void shouldMakeTheSameBytesInAnotherJvm() throws Exception {
        final List<String> here = KeyPairs.checksums(7, 0, 200);
        assertThat(here).hasSize(KeyPairs.shapes());
        assertThat(OtherJvm.checksums(7, 1, 200)).isEqualTo(here);
    }

    @Property(tries = 50)
    void shouldNeitherMissNorConfuseKeysOfAnySeed(@ForAll long seed) {
        final KeyPairs pairs = new KeyPairs(seed);
        pairs.compare(KeyPairs.shapes());
        assertThat(pairs.findings()).isEmpty();
    }

    /** A shape whose other contents were always unequal, or never, would prove little. */
    @Test
    void shouldMakeEqualAndUnequalKeysOfAllShapes() {
        for (KeyShape shape : KeyShape.values()) {
            int equal = 0;
            int unequal = 0;
            for (int i = 0; i < 400; i++) {
                final Object one = shape.make(seed(i), 1);
                final Object other = shape.make(seed(i + 1_000), 1);
                equal += shape.areEqual(shape.make(seed(i), 2), one) ? 1 : 0;
                unequal += shape.areEqual(one, other) ? 0 : 1;
            }
            assertThat(equal).as("equal keys of the shape %s", shape).isEqualTo(400);
            assertThat(unequal).as("unequal keys of the shape %s", shape).isBetween(40, 400);
        }
    }

    /** Random numbers of small seeds begin alike. */
    private static long seed(int number) {
        return number * 0x9e3779b97f4a7c15L;
    }
}
