package org.rowankv.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** docs/configuration.md matches the tables of settings. */
class ConfigurationDocumentTest {
    @Test
    void shouldBeWhatTheTablesOfSettingsSay() throws Exception {
        assertThat(Files.readString(Path.of("../docs/configuration.md")))
                .as("docs/configuration.md is out of date: run %s", ConfigurationDocument.class.getName())
                .isEqualTo(ConfigurationDocument.text());
    }
}
