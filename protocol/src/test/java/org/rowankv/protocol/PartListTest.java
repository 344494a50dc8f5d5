package org.rowankv.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** A list of parts covers its value exactly. */
final class PartListTest {
    @Property(tries = 200)
    void shouldCoverTheValueOnceFromStartToEnd(
            @ForAll @IntRange(min = 1, max = PartList.MAX_VALUE) int length,
            @ForAll @IntRange(min = 4096, max = PartList.MAX_VALUE) int partLength) {
        final PartList list = new PartList(1, length, partLength, 0);
        int next = 0;
        for (int number = 0; number < list.count(); number++) {
            assertThat(list.offsetOf(number)).isEqualTo(next);
            assertThat(list.lengthOf(number)).isBetween(1, partLength);
            next += list.lengthOf(number);
        }
        assertThat(next).isEqualTo(length);
    }

    @Property(tries = 100)
    void shouldBeReadAsWritten(@ForAll long id, @ForAll @IntRange(min = 1, max = 100) int partLength) {
        final PartList list = PartList.of(id, new byte[] {1, 2, 3, 4}, 1, 3, partLength);
        final byte[] bytes = list.toBytes();
        assertThat(PartList.read(bytes, 0, bytes.length)).isEqualTo(list);
        assertThat(list.crc()).isEqualTo(PartList.crcOf(new byte[] {2, 3, 4}, 0, 3));
    }

    @Example
    void shouldReadNoOtherFormatAndNoSenselessLength() {
        final byte[] bytes = new PartList(5, 10, 3, 7).toBytes();
        assertThat(PartList.read(bytes, 0, bytes.length - 1)).isNull();
        bytes[0]++;
        assertThat(PartList.read(bytes, 0, bytes.length)).isNull();
        for (PartList senseless : new PartList[] {
            new PartList(5, 0, 3, 7),
            new PartList(5, -1, 3, 7),
            new PartList(5, 10, 0, 7),
            new PartList(5, PartList.MAX_VALUE + 1, 3, 7)
        }) {
            assertThat(PartList.read(senseless.toBytes(), 0, PartList.LENGTH)).isNull();
        }
    }

    @Example
    void shouldTellPartsFromObjectsByTheCacheId() {
        assertThat(Parts.isParts(Parts.of(7))).isTrue();
        assertThat(Parts.isParts(7)).isFalse();
        assertThat(Parts.cacheOf(Parts.of(7))).isEqualTo(7);
        assertThat(Parts.cacheOf(7)).isEqualTo(7);
        assertThat(Parts.isParts(-1)).as("no id").isFalse();
        assertThat(Parts.isParts(Parts.of(0))).as("no cache has it").isFalse();
        assertThat(Parts.cacheOf(-1)).isEqualTo(-1);
    }
}
