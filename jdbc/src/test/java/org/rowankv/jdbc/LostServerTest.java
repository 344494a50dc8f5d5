package org.rowankv.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.local.LocalCluster;
import org.rowankv.daemon.local.LocalPorts;

/**
 * SQL on server processes: look-ups and changes by key; a server is killed while a scan reads from it, which has all rows or
 * ends with an error; without servers a statement says so.
 */
final class LostServerTest {
    private static final int SERVERS = 3;
    private static final int ROWS = 12_000;
    private static final int LOST = 1;
    private static final int BY_KEY = 600;

    @TempDir
    Path directory;

    @Test
    void shouldEndTheScanRightOrSaySo() throws Exception {
        final LocalCluster cluster = LocalCluster.openOrMake(
                directory, new LocalCluster.Shape(SERVERS, 2, "64m", LocalPorts.free(3 * SERVERS + 1)));
        try {
            cluster.start();
            assertThat(cluster.awaitServing(60_000)).isEmpty();
            final String url = "jdbc:rowan://"
                    + IntStream.range(0, SERVERS)
                            .mapToObj(server -> String.valueOf(cluster.clientsOf(server)))
                            .collect(Collectors.joining(";"))
                    + "/";
            try (Connection connection = DriverManager.getConnection(url);
                    Statement statement = connection.createStatement()) {
                fill(connection);
                changeByKey(connection);
                final String outcome = scan(cluster, statement);
                assertThat(countWhenServed(statement)).isEqualTo(ROWS);
                System.out.println("jdbc-lost-server: rows=" + ROWS + " scan=" + outcome + " missing=0");
            }
            try (Connection connection = DriverManager.getConnection(url + "?operation-timeout=1");
                    Statement statement = connection.createStatement()) {
                cluster.stop();
                assertThatThrownBy(() -> statement.execute("CREATE TABLE later(id INT PRIMARY KEY)"))
                        .isInstanceOfSatisfying(
                                SQLException.class,
                                e -> assertThat(e.getSQLState()).matches("08...|HYT00"))
                        .message()
                        .isNotBlank();
            }
        } finally {
            cluster.stop();
        }
    }

    private static void fill(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE wide(id INT PRIMARY KEY, text VARCHAR)");
        }
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO wide VALUES (?, ?)")) {
            for (int i = 0; i < ROWS; i++) {
                insert.setInt(1, i);
                insert.setString(2, "row " + i + " ".repeat(200));
                insert.addBatch();
            }
            assertThat(insert.executeBatch()).hasSize(ROWS).containsOnly(1);
        }
    }

    private static void changeByKey(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE counts(id INT PRIMARY KEY, n BIGINT)");
        }
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO counts VALUES (?, ?)");
                PreparedStatement update = connection.prepareStatement("UPDATE counts SET n = n + 1 WHERE id = ?");
                PreparedStatement delete = connection.prepareStatement("DELETE FROM counts WHERE id = ?")) {
            for (int i = 0; i < BY_KEY; i++) {
                insert.setInt(1, i);
                insert.setLong(2, i);
                insert.addBatch();
                update.setInt(1, i % (BY_KEY / 2)); // each of these twice
                update.addBatch();
                delete.setInt(1, 2 * i + 1); // half of these are there
                delete.addBatch();
            }
            assertThat(insert.executeBatch()).hasSize(BY_KEY).containsOnly(1);
            assertThat(update.executeBatch()).hasSize(BY_KEY).containsOnly(1);
            assertThat(number(connection, "SELECT sum(n) FROM counts")).isEqualTo(BY_KEY * (BY_KEY - 1L) / 2 + BY_KEY);
            final String list =
                    IntStream.range(0, BY_KEY).mapToObj(String::valueOf).collect(Collectors.joining(", ", "(", ")"));
            assertThat(number(connection, "SELECT count(*) FROM counts WHERE _expires IS NULL AND id IN " + list))
                    .isEqualTo(BY_KEY);
            assertThat(number(connection, "SELECT n FROM counts WHERE id = 7")).isEqualTo(9);
            assertThat(number(
                            connection,
                            "SELECT count(*) FROM counts c JOIN wide w ON w.id = c.id WHERE w.text LIKE 'row %'"))
                    .isEqualTo(BY_KEY);
            try (Statement statement = connection.createStatement()) {
                assertThat(statement.executeUpdate("UPDATE counts SET n = 0 WHERE id IN " + list))
                        .isEqualTo(BY_KEY);
            }
            assertThat(IntStream.of(delete.executeBatch()).sum()).isEqualTo(BY_KEY / 2);
            assertThat(number(connection, "SELECT count(*) FROM counts WHERE n = 0"))
                    .isEqualTo(BY_KEY / 2);
        }
    }

    private static long number(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            assertThat(rows.next()).isTrue();
            return rows.getLong(1);
        }
    }

    /** Kills a server after the first rows. */
    private static String scan(LocalCluster cluster, Statement statement) {
        final Set<Integer> found = new HashSet<>();
        try (ResultSet rows = statement.executeQuery("SELECT id, text FROM wide")) {
            while (rows.next()) {
                assertThat(rows.getString(2)).startsWith("row " + rows.getInt(1) + ' ');
                assertThat(found.add(rows.getInt(1))).as("found twice").isTrue();
                if (found.size() == 500) {
                    cluster.serverProcess(LOST).orElseThrow().destroyForcibly();
                }
            }
        } catch (SQLException e) {
            assertThat(e.getSQLState()).startsWith("08");
            return "failed";
        }
        assertThat(found).hasSize(ROWS);
        return "whole";
    }

    private static long countWhenServed(Statement statement) throws SQLException {
        for (int attempt = 1; ; attempt++) {
            try (ResultSet rows = statement.executeQuery("SELECT count(*) FROM wide")) {
                assertThat(rows.next()).isTrue();
                return rows.getLong(1);
            } catch (SQLException e) {
                if (attempt == 20) {
                    throw e;
                }
            }
        }
    }
}
