package org.rowankv.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Every warning and error has a code of its own, and the document explains exactly these. */
final class MessageCodesTest {
    private static final int MOST_WORDS = 16;
    private static final Pattern ROW = Pattern.compile("\\| ROWAN-(\\d{4}) \\| ([^|]+\\.) \\| ([^|]+\\.) \\|");

    private static List<String> rows() {
        return MessageCodes.textOf(SourceFiles.root().resolve("docs/messages.md"))
                .lines()
                .filter(line -> line.contains("ROWAN-"))
                .toList();
    }

    @Test
    void shouldBeginEveryWarningAndErrorWithACodeOfItsModule() {
        assertThat(MessageCodes.used()).hasSizeGreaterThan(50);
        assertThat(MessageCodes.offences()).isEmpty();
    }

    @Test
    void shouldUseACodeAtOnePlace() {
        assertThat(MessageCodes.used()).doesNotHaveDuplicates();
    }

    @Test
    void shouldExplainEveryCodeThatIsUsed() {
        final List<String> explained = rows().stream()
                .map(row -> row.replaceFirst("\\| ROWAN-(\\d{4}).*", "$1"))
                .toList();
        assertThat(explained).isSorted().containsExactlyInAnyOrderElementsOf(MessageCodes.used());
    }

    @Test
    void shouldSayInOneLineWhatItMeansAndWhatToDo() {
        assertThat(rows()).isNotEmpty().allSatisfy(row -> {
            assertThat(row).matches(ROW);
            assertThat(row.replaceAll("\\| ROWAN-\\d{4}|\\|", " ").strip().split("\\s+"))
                    .as(row)
                    .hasSizeLessThanOrEqualTo(MOST_WORDS);
        });
    }
}
