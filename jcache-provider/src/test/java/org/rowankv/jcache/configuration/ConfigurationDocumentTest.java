package org.rowankv.jcache.configuration;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ConfigurationDocumentTest {
    @Test
    void shouldBeWhatTheTableOfSettingsSays() throws Exception {
        assertThat(Files.readString(Path.of("../docs/CONFIGURATION.md")))
                .as("docs/CONFIGURATION.md is out of date: run %s", ConfigurationDocument.class.getName())
                .isEqualTo(ConfigurationDocument.text());
    }
}
