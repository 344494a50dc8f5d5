package org.rowankv.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * SQLite's queries, on tables of caches and on plain tables of H2: what the latter answer as the files say, the former
 * do. Left out by feature: indexes, views, UNIQUE columns, and texts that are concatenated of rows in no order.
 */
final class SqlLogicTest {
    private static final boolean IS_WHOLE = "all".equals(System.getProperty("rowan.test.scale"));
    private static final Pattern INDEX =
            Pattern.compile("^(CREATE( UNIQUE)?|DROP) INDEX\\b|^REINDEX\\b", Pattern.CASE_INSENSITIVE);
    private static final Pattern VIEW =
            Pattern.compile("^(CREATE|DROP) VIEW (?:IF EXISTS )?(\\w+)", Pattern.CASE_INSENSITIVE);
    private static final Pattern INSERT = Pattern.compile("^INSERT INTO (\\w+)", Pattern.CASE_INSENSITIVE);
    private static final Pattern UNIQUE =
            Pattern.compile("^CREATE TABLE (\\w+)\\(.*\\bUNIQUE\\b", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
    private static final Pattern CONCATENATION = Pattern.compile("\\bgroup_concat\\b", Pattern.CASE_INSENSITIVE);
    private static final List<String> SOME =
            List.of("select1", "random/aggregates/slt_good_1", "random/expr/slt_good_0", "index/commute/10/slt_good_0");
    private static final int QUERIES_OF_SOME = 700;

    private int queries;
    private int passedByTables;
    private int passed;
    private int excluded;
    private int statements;
    private int withoutIndex;
    private final List<String> failures = new ArrayList<>();
    /** Views, tables with a UNIQUE column, and tables that have rows of these. */
    private final Set<String> leftOut = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);

    private static Stream<String> numbered(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> prefix + "/slt_good_" + i);
    }

    private static List<String> files() {
        if (!IS_WHOLE) {
            return SOME;
        }
        return Stream.of(
                        Stream.of("select1", "select2", "select3", "select4"),
                        Stream.of(
                                "evidence/in1",
                                "evidence/in2",
                                "evidence/slt_lang_aggfunc",
                                "evidence/slt_lang_update",
                                "evidence/slt_lang_replace",
                                "evidence/slt_lang_createview",
                                "evidence/slt_lang_dropview",
                                "evidence/slt_lang_droptable"),
                        numbered("index/between/10", 2),
                        numbered("index/commute/10", 4),
                        numbered("index/delete/10", 2),
                        numbered("index/in/10", 2),
                        numbered("index/orderby/10", 2),
                        numbered("index/orderby_nosort/10", 2),
                        numbered("index/random/10", 2),
                        numbered("index/view/10", 1),
                        numbered("random/aggregates", 3),
                        numbered("random/expr", 3),
                        numbered("random/groupby", 2),
                        numbered("random/select", 3))
                .flatMap(each -> each)
                .toList();
    }

    @Test
    void shouldAnswerAsPlainTablesDo() throws SQLException {
        for (String file : files()) {
            leftOut.clear();
            try (Connection plain = DriverManager.getConnection("jdbc:h2:mem:");
                    Connection caches =
                            DriverManager.getConnection("jdbc:rowan:embedded?servers=1&capacity=64m&name=logic");
                    Statement onTables = plain.createStatement();
                    Statement onCaches = caches.createStatement()) {
                run(file, onTables, onCaches);
            }
            if (IS_WHOLE) {
                System.out.println("jdbc-sql-logic: " + file + ' ' + this);
            }
        }
        System.out.println("jdbc-sql-logic: files=" + files().size() + ' ' + this);
        assertThat(failures).isEmpty();
        assertThat(passed).isEqualTo(passedByTables);
        assertThat(excluded * 20L).isLessThanOrEqualTo(queries);
        assertThat(queries).isGreaterThanOrEqualTo(IS_WHOLE ? 100_000 : 1_000);
    }

    @Override
    public String toString() {
        return "queries=" + queries + " tables_passed=" + passedByTables + " passed=" + passed + " failed="
                + failures.size() + " excluded=" + excluded + " statements=" + statements + " without_index="
                + withoutIndex;
    }

    private void run(String file, Statement onTables, Statement onCaches) {
        final InputStream resource = SqlLogicTest.class.getResourceAsStream("/test/" + file + ".test");
        assertThat(resource).as(file).isNotNull();
        final int first = queries;
        try (BufferedReader in = new BufferedReader(new InputStreamReader(resource, StandardCharsets.UTF_8))) {
            List<String> part = new ArrayList<>();
            for (String line = ""; line != null; ) {
                line = in.readLine();
                if (line == null || line.isBlank()) {
                    if (!part.isEmpty() && !isForOthers(part)) {
                        step(file, part, onTables, onCaches);
                    }
                    part = new ArrayList<>();
                    if (!IS_WHOLE && queries - first >= QUERIES_OF_SOME) {
                        return;
                    }
                } else if (!line.startsWith("#")) {
                    part.add(line);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether it is for another database; removes what says that it is for this one. */
    private static boolean isForOthers(List<String> part) {
        while (!part.isEmpty()
                && (part.get(0).startsWith("skipif") || part.get(0).startsWith("onlyif"))) {
            if (part.get(0).startsWith("onlyif")) {
                return true;
            }
            part.remove(0);
        }
        return part.isEmpty()
                || part.get(0).startsWith("hash-threshold")
                || part.get(0).startsWith("halt");
    }

    private void step(String file, List<String> part, Statement onTables, Statement onCaches) {
        final int end = part.indexOf("----");
        final String sql =
                String.join("\n", part.subList(1, end < 0 ? part.size() : end)).strip();
        if (part.get(0).startsWith("query")) {
            ask(
                    file,
                    sql,
                    part.get(0).split(" "),
                    end < 0 ? List.of() : part.subList(end + 1, part.size()),
                    onTables,
                    onCaches);
        } else {
            change(file, sql, onTables, onCaches);
        }
    }

    private void change(String file, String sql, Statement onTables, Statement onCaches) {
        final Matcher view = VIEW.matcher(sql);
        final boolean isTable = tryChange(onTables, sql);
        if (INDEX.matcher(sql).find()) {
            withoutIndex++;
        } else if (UNIQUE.matcher(sql).find()) {
            leftOut.add(UNIQUE.matcher(sql).results().findFirst().orElseThrow().group(1));
        } else if (view.find() || readsLeftOut(sql)) {
            final Matcher insert = INSERT.matcher(sql);
            if (view.reset().find()) {
                leftOut.add(view.group(2));
            } else if (insert.find()) {
                leftOut.add(insert.group(1));
            }
        } else {
            statements++;
            if (tryChange(onCaches, sql) != isTable) {
                failures.add(file + ": " + sql + " on tables: " + isTable);
            }
        }
    }

    private static boolean tryChange(Statement statement, String sql) {
        try {
            statement.execute(sql);
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    private boolean readsLeftOut(String sql) {
        return !leftOut.isEmpty() && Arrays.stream(sql.split("\\W+")).anyMatch(leftOut::contains);
    }

    private void ask(
            String file, String sql, String[] how, List<String> expected, Statement onTables, Statement onCaches) {
        queries++;
        if (readsLeftOut(sql) || CONCATENATION.matcher(sql).find()) {
            excluded++;
            return;
        }
        final String sort = how.length > 2 ? how[2] : "nosort";
        final List<String> ofTables = answer(onTables, sql, how[1], sort);
        final List<String> ofCaches = answer(onCaches, sql, how[1], sort);
        final boolean isPassedByTables = fits(ofTables, expected);
        if (isPassedByTables) {
            passedByTables++;
            if (fits(ofCaches, expected)) {
                passed++;
            }
        }
        // Without an order of the query, or where both fail, the sequence is no property of the answer.
        if (!sorted(ofTables).equals(sorted(ofCaches))) {
            failures.add(file + ": " + sql + "\n  tables: " + ofTables + "\n  caches: " + ofCaches);
        }
    }

    private static List<String> sorted(List<String> values) {
        final List<String> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        return sorted;
    }

    private static List<String> answer(Statement statement, String sql, String types, String sort) {
        final List<List<String>> all = new ArrayList<>();
        try (ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                final List<String> row = new ArrayList<>();
                for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
                    row.add(text(rows, i, i <= types.length() ? types.charAt(i - 1) : 'T'));
                }
                all.add(row);
            }
        } catch (SQLException e) {
            return List.of("failed " + e.getSQLState());
        }
        if (sort.equals("rowsort")) {
            all.sort((a, b) -> Arrays.compare(a.toArray(new String[0]), b.toArray(new String[0])));
        }
        final List<String> values = new ArrayList<>();
        all.forEach(values::addAll);
        if (sort.equals("valuesort")) {
            Collections.sort(values);
        }
        return values;
    }

    private static String text(ResultSet rows, int column, char type) throws SQLException {
        final String text = rows.getString(column);
        if (text == null) {
            return "NULL";
        }
        return switch (type) {
            case 'I' -> rows.getObject(column) instanceof Number number ? String.valueOf(number.longValue()) : "0";
            case 'R' -> String.format(Locale.ROOT, "%.3f", rows.getDouble(column));
            default -> text.isEmpty() ? "(empty)" : text.replaceAll("[^ -~]", "@");
        };
    }

    private static boolean fits(List<String> values, List<String> expected) {
        final Matcher hash =
                Pattern.compile("^(\\d+) values hashing to (\\w+)$").matcher(expected.isEmpty() ? "" : expected.get(0));
        if (!hash.find()) {
            return values.equals(expected);
        }
        try {
            final MessageDigest md5 = MessageDigest.getInstance("MD5");
            values.forEach(value -> md5.update((value + '\n').getBytes(StandardCharsets.UTF_8)));
            return values.size() == Integer.parseInt(hash.group(1))
                    && HexFormat.of().formatHex(md5.digest()).equals(hash.group(2));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
