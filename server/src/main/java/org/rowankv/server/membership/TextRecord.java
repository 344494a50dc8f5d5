package org.rowankv.server.membership;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.rowankv.server.configstore.ConfigurationStoreException;

/**
 * A small text node: a first line with its kind, a format version, and lines {@code name=value}. A damaged record, or
 * one of another version, is refused with the reason.
 */
final class TextRecord {
    private static final int FORMAT_VERSION = 1;

    private final String where;
    private final String firstLine;
    private final Map<String, String> values;

    private TextRecord(String where, String firstLine, Map<String, String> values) {
        this.where = where;
        this.firstLine = firstLine;
        this.values = values;
    }

    static TextRecord begin(String firstLine) {
        return new TextRecord("", firstLine, new LinkedHashMap<>());
    }

    TextRecord put(String name, String value) {
        if (value.indexOf('\n') >= 0 || value.indexOf('\r') >= 0) {
            throw new IllegalArgumentException(name + " has a line break");
        }
        values.put(name, value);
        return this;
    }

    TextRecord put(String name, long value) {
        return put(name, Long.toString(value));
    }

    TextRecord putHex(String name, long value) {
        return put(name, Long.toHexString(value));
    }

    byte[] encode() {
        final StringBuilder text = new StringBuilder(firstLine)
                .append("\nformat=")
                .append(FORMAT_VERSION)
                .append('\n');
        values.forEach(
                (name, value) -> text.append(name).append('=').append(value).append('\n'));
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** @param where named in refusals */
    static TextRecord decode(String where, String firstLine, byte[] bytes) {
        final String text = new String(bytes, StandardCharsets.UTF_8);
        final Map<String, String> values = new LinkedHashMap<>();
        for (String line : text.split("\n", -1)) {
            final int equals = line.indexOf('=');
            if (equals > 0) {
                values.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        final TextRecord lines = new TextRecord(where, firstLine, values);
        if (!text.startsWith(firstLine + "\n") || !text.endsWith("\n")) {
            throw lines.refusal("it does not begin with '" + firstLine + "', or is cut short");
        }
        final String format = values.getOrDefault("format", "");
        if (!format.equals(Integer.toString(FORMAT_VERSION))) {
            throw lines.refusal("it has format version " + format + ", this version of Rowan-KV reads " + FORMAT_VERSION
                    + "; use the version that wrote it, or a newer one");
        }
        return lines;
    }

    String text(String name) {
        final String value = values.get(name);
        if (value == null) {
            throw refusal("it lacks " + name);
        }
        return value;
    }

    /** For a line that older versions do not write. */
    String text(String name, String otherwise) {
        return values.getOrDefault(name, otherwise);
    }

    long number(String name, long least, long most) {
        try {
            final long value = Long.parseLong(text(name));
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            throw refusal(name + " is no number");
        }
        throw refusal(name + " is not " + least + ".." + most);
    }

    long hex(String name) {
        try {
            return Long.parseUnsignedLong(text(name), 16);
        } catch (NumberFormatException e) {
            throw refusal(name + " is no number");
        }
    }

    private ConfigurationStoreException refusal(String reason) {
        return new ConfigurationStoreException("the node " + where + " cannot be read: " + reason);
    }
}
