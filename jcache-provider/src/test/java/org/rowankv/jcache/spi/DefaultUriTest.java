package org.rowankv.jcache.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The URI of managers that are requested without one. */
final class DefaultUriTest {
    private static final String PROPERTY = "rowan.uri";

    @AfterEach
    void clear() {
        System.clearProperty(PROPERTY);
    }

    /** Else a manager that was opened by default could not be closed, or found again, by default. */
    @Test
    void shouldKeepTheDefaultUriOfItsFirstCall() {
        System.setProperty(PROPERTY, "rowan:embedded?name=first");
        try (RowanCachingProvider provider = new RowanCachingProvider()) {
            final URI first = provider.getDefaultURI();
            assertThat(first).isEqualTo(URI.create("rowan:embedded?name=first"));
            System.setProperty(PROPERTY, "rowan:embedded?name=second");
            assertThat(provider.getDefaultURI()).isEqualTo(first);
        }
        try (RowanCachingProvider provider = new RowanCachingProvider()) {
            assertThat(provider.getDefaultURI()).isEqualTo(URI.create("rowan:embedded?name=second"));
        }
    }
}
