package org.rowankv.sim.plant;

import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A known bug: one wrong change to the production code. The production code has no trace of it: the source is changed
 * on its way to the compiler.
 *
 * @param name in plain words, unique
 * @param path of the source file, from the root of the source tree
 * @param harm effect on an application or an operator, in a sentence; may be empty
 * @param right the text of the source, with any white space between its words
 * @param wrong its replacement; may be empty
 * @param survivedAtFirst whether nothing that existed when it was planted caught it
 */
public record PlantedBug(
        String name, String path, String harm, String right, String wrong, Catcher catcher, boolean survivedAtFirst) {
    private static final String SOURCES = "/src/main/java/";

    public PlantedBug {
        if (!path.contains(SOURCES) || !path.endsWith(".java")) {
            throw new IllegalArgumentException("'" + name + "': " + path + " is not below MODULE" + SOURCES);
        }
        if (right.isBlank()) {
            throw new IllegalArgumentException("'" + name + "' does not say what stands in " + path);
        }
    }

    /** The same, with another bound for its catcher. */
    PlantedBug within(int atMost) {
        return new PlantedBug(name, path, harm, right, wrong, catcher.within(atMost), survivedAtFirst);
    }

    /** The name of the class in the file. */
    public String type() {
        return path.substring(path.indexOf(SOURCES) + SOURCES.length(), path.length() - ".java".length())
                .replace('/', '.');
    }

    /** The source with the bug in it. */
    public String plantIn(String source) {
        final Matcher found = Pattern.compile(Arrays.stream(right.strip().split("\\s+"))
                        .map(Pattern::quote)
                        .collect(Collectors.joining("\\s+")))
                .matcher(source);
        if (!found.find()) {
            throw misfit("is not there");
        }
        final int start = found.start();
        final int end = found.end();
        if (found.find(start + 1)) {
            throw misfit("stands there more than once");
        }
        return source.substring(0, start) + wrong + source.substring(end);
    }

    private IllegalStateException misfit(String why) {
        return new IllegalStateException(
                "the planted bug '" + name + "' does not fit " + path + " any more: its text " + why + ":\n" + right);
    }
}
