package org.rowankv.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

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

/** A server of a cluster is killed while a scan reads from it: the scan has all rows, or ends with an error. */
final class LostServerTest {
    private static final int SERVERS = 3;
    private static final int ROWS = 12_000;
    private static final int LOST = 1;

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
                final String outcome = scan(cluster, statement);
                assertThat(countWhenServed(statement)).isEqualTo(ROWS);
                System.out.println("jdbc-lost-server: rows=" + ROWS + " scan=" + outcome + " missing=0");
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
