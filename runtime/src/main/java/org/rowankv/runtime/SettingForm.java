package org.rowankv.runtime;

import java.util.List;

/** The textual form of a setting's value, the same in a URI, a property, an option and the environment. */
public enum SettingForm {
    COUNT("a whole number from 1"),
    NUMBER("a whole number from 0"),
    SECONDS("a whole number of seconds, or 0"),
    BYTES("bytes, or with a unit k, m or g"),
    TEXT("text"),
    PATH("a path"),
    FLAG("true or false"),
    CHOICE("one of the names listed");

    private final String description;

    SettingForm(String description) {
        this.description = description;
    }

    public String description() {
        return description;
    }

    /**
     * Returns the canonical form of the value: numbers become parseable, bytes lose their unit.
     *
     * @param choices allowed values of a CHOICE
     * @throws IllegalArgumentException if the text is not a valid value; its message continues a sentence that begins
     *     with the text
     */
    public String canonical(String text, List<String> choices) {
        final String trimmed = text.trim();
        return switch (this) {
            case COUNT -> whole(trimmed, 1);
            case NUMBER, SECONDS -> whole(trimmed, 0);
            case BYTES -> bytes(trimmed);
            case FLAG -> oneOf(trimmed, List.of("true", "false"), "is not " + description);
            case CHOICE -> oneOf(trimmed, choices, "is none of " + String.join(", ", choices));
            case TEXT, PATH -> trimmed;
        };
    }

    private String whole(String text, int least) {
        try {
            final int number = Integer.parseInt(text);
            if (number >= least) {
                return Integer.toString(number);
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("is not " + description, e);
        }
        throw new IllegalArgumentException("is not " + description);
    }

    private String bytes(String text) {
        final int last = text.length() - 1;
        final int unit = last < 0 ? -1 : "kmg".indexOf(Character.toLowerCase(text.charAt(last)));
        final String digits = unit < 0 ? text : text.substring(0, last);
        try {
            final long count = Long.parseLong(digits.trim());
            if (count >= 1) {
                return Long.toString(Math.multiplyExact(count, 1L << 10 * (unit + 1)));
            }
        } catch (NumberFormatException | ArithmeticException e) {
            throw new IllegalArgumentException("is not " + description, e);
        }
        throw new IllegalArgumentException("is not " + description);
    }

    private static String oneOf(String text, List<String> choices, String refusal) {
        if (!choices.contains(text)) {
            throw new IllegalArgumentException(refusal);
        }
        return text;
    }
}
