package org.rowankv.rules;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The codes of warnings and errors in main sources. */
final class MessageCodes {
    /** The first digit of a module's codes: the part of the product that an operator looks at. */
    private static final Map<String, String> DIGITS = Map.of(
            "driver", "1",
            "jcache-provider", "1",
            "spring-boot-starter", "1",
            "server", "2",
            "rdma", "3",
            "daemon", "4",
            "runtime", "5");

    private static final Pattern CALL = Pattern.compile(
            "\\blog(?:ger)?\\s*(?:\\.|::)\\s*(?:warn|error|atWarn|atError|atLevel)\\b(?:\\s*\\(\\s*\"ROWAN-(\\d{4}) )?",
            Pattern.CASE_INSENSITIVE);

    private MessageCodes() {}

    /** The codes used by the main sources, each as often as it is used. */
    static List<String> used() {
        final List<String> codes = new ArrayList<>();
        for (Path file : SourceFiles.all()) {
            final Matcher calls = CALL.matcher(textOf(file));
            while (calls.find()) {
                if (calls.group(1) != null) {
                    codes.add(calls.group(1));
                }
            }
        }
        return codes;
    }

    /** Calls in main sources without a code, or with a code of another module. */
    static List<String> offences() {
        final List<String> found = new ArrayList<>();
        for (Path file : SourceFiles.all()) {
            final Path relative = SourceFiles.root().relativize(file);
            for (String call : offences(relative.getName(0).toString(), textOf(file))) {
                found.add(relative + ": " + call);
            }
        }
        return found;
    }

    static List<String> offences(String module, String source) {
        final String digit = DIGITS.get(module);
        final List<String> found = new ArrayList<>();
        final Matcher calls = CALL.matcher(source);
        while (calls.find()) {
            final String code = calls.group(1);
            if (code == null || digit == null || !code.startsWith(digit)) {
                found.add(source.substring(calls.start(), Math.min(source.length(), calls.end() + 40))
                        .replaceAll("\\s+", " "));
            }
        }
        return found;
    }

    static String textOf(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
