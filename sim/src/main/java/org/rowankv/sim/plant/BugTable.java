package org.rowankv.sim.plant;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Parser of one table of planted bugs. A bug is a list of fields, {@code name: value}; {@code bug:} begins the next
 * one. The value of {@code right:} and {@code wrong:} is the code in the indented lines below. Lines that begin with
 * {@code #} and blank lines outside of code are ignored.
 */
final class BugTable {
    private static final String BUG = "bug";
    private static final String IN = "in";
    private static final String HARM = "harm";
    private static final String CAUGHT_BY = "caught by";
    private static final String AT_FIRST = "at first";
    private static final String RIGHT = "right";
    private static final String WRONG = "wrong";
    private static final Set<String> FIELDS = Set.of(BUG, IN, HARM, CAUGHT_BY, AT_FIRST, RIGHT, WRONG);
    private static final String INDENT = "    ";

    private final String table;
    private final List<PlantedBug> bugs = new ArrayList<>();
    private final Map<String, String> fields = new HashMap<>();
    private String code = "";

    private BugTable(String table) {
        this.table = table;
    }

    /**
     * The bugs of a table, in its order.
     *
     * @param table its name, for error messages
     */
    static List<PlantedBug> parse(String table, String text) {
        final BugTable parsing = new BugTable(table);
        final List<String> lines = text.lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            try {
                parsing.line(lines.get(i));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(table + ", line " + (i + 1) + ": " + e.getMessage(), e);
            }
        }
        parsing.end();
        return parsing.bugs;
    }

    private void line(String line) {
        if (!code.isEmpty() && (line.startsWith(INDENT) || line.isBlank())) {
            final String more = line.isBlank() ? "" : line.substring(INDENT.length());
            fields.merge(code, more, (before, next) -> before + "\n" + next);
        } else if (!line.isBlank() && !line.startsWith("#")) {
            final int colon = line.indexOf(':');
            final String name = colon < 0 ? line : line.substring(0, colon);
            if (colon < 0 || !FIELDS.contains(name)) {
                throw new IllegalArgumentException("'" + name + "' is none of " + FIELDS);
            }
            if (name.equals(BUG)) {
                end();
            }
            final String value = line.substring(colon + 1).strip();
            final boolean hasCode = name.equals(RIGHT) || name.equals(WRONG);
            if (hasCode && !value.isEmpty()) {
                throw new IllegalArgumentException("code stands in the lines below '" + name + ":', indented");
            }
            code = hasCode ? name : "";
            if (!hasCode && fields.put(name, value) != null) {
                throw new IllegalArgumentException("'" + name + ":' a second time");
            }
        }
    }

    private void end() {
        if (!fields.isEmpty()) {
            bugs.add(new PlantedBug(
                    field(BUG),
                    field(IN),
                    fields.getOrDefault(HARM, ""),
                    field(RIGHT),
                    fields.getOrDefault(WRONG, "").strip(),
                    Catcher.parse(field(CAUGHT_BY)),
                    survivedAtFirst()));
            fields.clear();
            code = "";
        }
    }

    private boolean survivedAtFirst() {
        final String atFirst = field(AT_FIRST);
        if (!atFirst.equals("caught") && !atFirst.equals("survived")) {
            throw new IllegalArgumentException("'" + AT_FIRST + ":' is 'caught' or 'survived', not '" + atFirst + "'");
        }
        return atFirst.equals("survived");
    }

    private String field(String name) {
        final String value = fields.get(name);
        if (value == null || value.isBlank()) {
            throw new IllegalArgumentException(
                    table + ": '" + fields.getOrDefault(BUG, "a bug") + "' has no '" + name + ":'");
        }
        return value.strip();
    }
}
