package org.rowankv.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Code and documents use the field's words: things send, hold and need; one name means one thing. */
final class WordsTest {
    /** For code these are people; and people in a document have a role, such as operator. */
    private static final Pattern DIALECT =
            Pattern.compile("\\b(who|whoever|whom|somebody|nobody|told)\\b", Pattern.CASE_INSENSITIVE);

    private static List<String> linesWith(Pattern words, List<Path> files) throws IOException {
        final List<String> found = new ArrayList<>();
        for (Path file : files) {
            final List<String> lines = Files.readAllLines(file);
            for (int i = 0; i < lines.size(); i++) {
                if (words.matcher(lines.get(i)).find()) {
                    found.add(SourceFiles.root().relativize(file) + ":" + (i + 1) + " "
                            + lines.get(i).trim());
                }
            }
        }
        return found;
    }

    @Test
    void shouldUseTheFieldsWordsInMainSources() throws IOException {
        assertThat(linesWith(DIALECT, SourceFiles.texts())).isEmpty();
    }

    @Test
    void shouldUseTheFieldsWordsInDocuments() throws IOException {
        assertThat(SourceFiles.documents()).hasSizeGreaterThan(20);
        assertThat(linesWith(DIALECT, SourceFiles.documents())).isEmpty();
    }

    @Test
    void shouldNameNoTwoTypesAlike() {
        final Map<String, List<String>> places = new TreeMap<>();
        for (Path file : SourceFiles.all()) {
            places.computeIfAbsent(file.getFileName().toString(), name -> new ArrayList<>())
                    .add(SourceFiles.root().relativize(file).toString());
        }
        places.values().removeIf(files -> files.size() == 1);
        assertThat(places).isEmpty();
    }

    @Test
    void shouldFindWordsOfTheDialect() {
        assertThat(DIALECT.matcher("the server is Told so").find()).isTrue();
        assertThat(DIALECT.matcher("whole, toldo").find()).isFalse();
    }
}
