package org.rowankv.jcache.configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.HexFormat;
import javax.cache.CacheException;
import org.junit.jupiter.api.Test;
import org.rowankv.jcache.codec.KeyFormat;

class CacheDescriptorTest {
    private final CacheDescriptor descriptor =
            new CacheDescriptor("a.Key", "b.Value", "c.Policy", KeyFormat.STRUCTURAL, "", "");

    @Test
    void shouldBeReadAsItWasWritten() {
        assertThat(CacheDescriptor.of(descriptor.toBytes())).isEqualTo(descriptor);
        assertThat(HexFormat.of().formatHex(descriptor.toBytes()))
                .isEqualTo("020005612e4b65790007622e56616c75650008632e506f6c696379000a7374727563747572616c");
    }

    @Test
    void shouldReadThatOldCachesHaveSerializedKeys() {
        final byte[] old = HexFormat.of().parseHex("010005612e4b65790007622e56616c75650008632e506f6c696379");
        assertThat(CacheDescriptor.of(old)).isEqualTo(descriptor.withKeys(KeyFormat.SERIALIZED));
    }

    @Test
    void shouldKeepTheCodecOfAnApplication() {
        final CacheDescriptor jackson = descriptor.withCodec("jackson");
        assertThat(CacheDescriptor.of(jackson.toBytes())).isEqualTo(jackson).isNotEqualTo(descriptor);
        assertThat(jackson.toBytes()[0]).isEqualTo((byte) 3);
        assertThat(jackson.toString()).contains("values b.Value (jackson)");
    }

    @Test
    void shouldKeepTheColumnsOfSql() {
        final CacheDescriptor table = descriptor.withColumns("KN INTEGER 0 0 a\n");
        assertThat(CacheDescriptor.of(table.toBytes())).isEqualTo(table);
        assertThat(table.toBytes()[0]).isEqualTo((byte) 4);
        assertThat(CacheDescriptor.of(table.withCodec("jackson").toBytes())).isEqualTo(table.withCodec("jackson"));
    }

    @Test
    void shouldRefuseAnotherVersionAndDamage() {
        final byte[] bytes = descriptor.toBytes();
        bytes[0] = 5;
        assertThatThrownBy(() -> CacheDescriptor.of(bytes))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("version 5");
        assertThatThrownBy(() -> CacheDescriptor.of(Arrays.copyOf(descriptor.toBytes(), 9)))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("damaged");
    }
}
