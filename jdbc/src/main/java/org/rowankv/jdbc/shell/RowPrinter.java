package org.rowankv.jdbc.shell;

import java.io.PrintStream;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Prints rows as they arrive, a page at a time. Used by one thread. */
final class RowPrinter {
    /** Forms of output. */
    enum Form {
        /** Columns of equal width, in each page of their own. */
        TABLE,
        /** RFC 4180, with the names first; null is empty. */
        CSV,
        /** An object per line. */
        JSON
    }

    private static final int PAGE = 256;
    private static final int WIDEST = 60;

    private final PrintStream out;
    private final Form form;

    RowPrinter(PrintStream out, Form form) {
        this.out = out;
        this.form = form;
    }

    /** Prints all rows and returns how many there were. */
    long print(ResultSet rows) throws SQLException {
        final ResultSetMetaData metaData = rows.getMetaData();
        final List<@Nullable String> names = new ArrayList<>();
        for (int i = 1; i <= metaData.getColumnCount(); i++) {
            names.add(metaData.getColumnLabel(i));
        }
        if (form == Form.CSV) {
            printCsv(names);
        }
        long count = 0;
        final List<List<@Nullable String>> page = new ArrayList<>();
        boolean isFirst = true;
        while (rows.next()) {
            count++;
            final List<@Nullable String> row = new ArrayList<>();
            for (int i = 1; i <= names.size(); i++) {
                row.add(rows.getString(i));
            }
            switch (form) {
                case CSV -> printCsv(row);
                case JSON -> printJson(names, row, metaData);
                case TABLE -> {
                    page.add(row);
                    if (page.size() == PAGE) {
                        printTable(names, page, isFirst);
                        page.clear();
                        isFirst = false;
                    }
                }
            }
        }
        if (form == Form.TABLE && (isFirst || !page.isEmpty())) {
            printTable(names, page, isFirst);
        }
        return count;
    }

    private void printCsv(List<@Nullable String> row) {
        final StringBuilder line = new StringBuilder();
        for (int i = 0; i < row.size(); i++) {
            line.append(i > 0 ? "," : "");
            final String text = row.get(i);
            if (text != null && (text.isEmpty() || text.chars().anyMatch(c -> c < ' ' || c == ',' || c == '"'))) {
                line.append('"').append(text.replace("\"", "\"\"")).append('"');
            } else {
                line.append(text == null ? "" : text);
            }
        }
        out.println(line);
    }

    private void printJson(List<@Nullable String> names, List<@Nullable String> row, ResultSetMetaData metaData)
            throws SQLException {
        final StringBuilder line = new StringBuilder("{");
        for (int i = 0; i < row.size(); i++) {
            line.append(i > 0 ? "," : "");
            quote(String.valueOf(names.get(i)), line);
            line.append(':');
            final String text = row.get(i);
            if (text == null || isJson(metaData, i + 1, text)) {
                line.append(text);
            } else {
                quote(text, line);
            }
        }
        out.println(line.append('}'));
    }

    private static boolean isJson(ResultSetMetaData metaData, int column, String text) throws SQLException {
        return switch (metaData.getColumnType(column)) {
            case Types.TINYINT, Types.SMALLINT, Types.INTEGER, Types.BIGINT, Types.BOOLEAN -> true;
            case Types.REAL, Types.FLOAT, Types.DOUBLE, Types.NUMERIC, Types.DECIMAL ->
                !text.contains("N") && !text.contains("I"); // NaN and Infinity
            default -> metaData.getColumnTypeName(column).equals("JSON");
        };
    }

    private static void quote(String text, StringBuilder line) {
        line.append('"');
        text.chars().forEach(c -> {
            if (c == '"' || c == '\\') {
                line.append('\\').append((char) c);
            } else if (c < ' ') {
                line.append(String.format("\\u%04x", c));
            } else {
                line.append((char) c);
            }
        });
        line.append('"');
    }

    private void printTable(List<@Nullable String> names, List<List<@Nullable String>> rows, boolean isFirst) {
        final int[] widths = new int[names.size()];
        for (int i = 0; i < widths.length; i++) {
            widths[i] = cell(names.get(i)).length();
            for (List<@Nullable String> row : rows) {
                widths[i] = Math.max(widths[i], cell(row.get(i)).length());
            }
        }
        if (isFirst) {
            printLine(names, widths);
            final StringBuilder rule = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                rule.append(i > 0 ? "-+-" : "").append("-".repeat(widths[i]));
            }
            out.println(rule);
        }
        rows.forEach(row -> printLine(row, widths));
    }

    private void printLine(List<@Nullable String> cells, int[] widths) {
        final StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            final String text = cell(cells.get(i));
            line.append(i > 0 ? " | " : "").append(text);
            line.append(i < widths.length - 1 ? " ".repeat(widths[i] - text.length()) : "");
        }
        out.println(line);
    }

    /** One line of at most that many characters. */
    private static String cell(@Nullable String text) {
        if (text == null) {
            return "null";
        }
        final String line = text.replaceAll("\\p{Cntrl}", " ");
        return line.length() <= WIDEST ? line : line.substring(0, WIDEST - 3) + "...";
    }
}
