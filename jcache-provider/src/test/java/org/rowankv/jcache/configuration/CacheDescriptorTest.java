package org.rowankv.jcache.configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.HexFormat;
import javax.cache.CacheException;
import org.junit.jupiter.api.Test;

class CacheDescriptorTest {
    private final CacheDescriptor descriptor = new CacheDescriptor("a.Key", "b.Value", "c.Policy");

    @Test
    void shouldBeReadAsItWasWritten() {
        assertThat(CacheDescriptor.of(descriptor.toBytes())).isEqualTo(descriptor);
        assertThat(HexFormat.of().formatHex(descriptor.toBytes()))
                .isEqualTo("010005612e4b65790007622e56616c75650008632e506f6c696379");
    }

    @Test
    void shouldRefuseAnotherVersionAndDamage() {
        final byte[] bytes = descriptor.toBytes();
        bytes[0] = 2;
        assertThatThrownBy(() -> CacheDescriptor.of(bytes))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("version 2");
        assertThatThrownBy(() -> CacheDescriptor.of(Arrays.copyOf(descriptor.toBytes(), 9)))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("damaged");
    }
}
