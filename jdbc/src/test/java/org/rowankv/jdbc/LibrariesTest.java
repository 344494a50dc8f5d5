package org.rowankv.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** A pool and a template of others work with the driver as with any. */
final class LibrariesTest {
    private static final String URL = "jdbc:rowan:embedded?servers=1&capacity=32m&name=libraries";

    @Test
    void shouldBePooledByHikari() throws Exception {
        final HikariConfig config = new HikariConfig();
        config.setJdbcUrl(URL);
        config.setMaximumPoolSize(3);
        // A store in memory ends with its last connection, and the pool replaces one whose feature was refused.
        try (Connection other = new RowanDataSource(URL).getConnection();
                HikariDataSource pool = new HikariDataSource(config)) {
            assertThat(other.isValid(1)).isTrue();
            try (Connection connection = pool.getConnection()) {
                assertThat(connection
                                .createStatement()
                                .executeUpdate("CREATE TABLE c(_KEY INT PRIMARY KEY, _VALUE BIGINT)"))
                        .isZero();
                assertThat(connection.createStatement().executeUpdate("INSERT INTO c VALUES (1, 0)"))
                        .isEqualTo(1);
                assertThatThrownBy(() -> connection.setAutoCommit(false)).isInstanceOf(SQLException.class);
            }
            final ExecutorService threads = Executors.newFixedThreadPool(6);
            final List<Future<Integer>> all = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                all.add(threads.submit(() -> {
                    try (Connection connection = pool.getConnection()) {
                        return connection.createStatement().executeUpdate("UPDATE c SET _value = _value + 1");
                    }
                }));
            }
            for (Future<Integer> each : all) {
                assertThat(each.get()).isEqualTo(1);
            }
            threads.shutdown();
            assertThat(new JdbcTemplate(pool).queryForObject("SELECT _value FROM c WHERE _key = ?", Long.class, 1))
                    .isEqualTo(60L);
        }
    }

    @Test
    void shouldServeAJdbcTemplate() throws SQLException {
        try (Connection connection = new RowanDataSource(URL).getConnection()) {
            final JdbcTemplate template = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
            template.execute("CREATE TABLE s(_KEY VARCHAR PRIMARY KEY, _VALUE INT)");
            final List<Object[]> rows = IntStream.range(0, 100)
                    .mapToObj(i -> new Object[] {"k" + i, i})
                    .toList();
            assertThat(template.batchUpdate("INSERT INTO s VALUES (?, ?)", rows))
                    .hasSize(100)
                    .containsOnly(1);

            assertThat(template.queryForObject("SELECT sum(_value) FROM s", Integer.class))
                    .isEqualTo(4_950);
            assertThat(template.queryForList("SELECT _key FROM s WHERE _value < ? ORDER BY _value", String.class, 3))
                    .containsExactly("k0", "k1", "k2");
            assertThat(template.update("UPDATE s SET _value = ? WHERE _key = ?", 7, "k0"))
                    .isEqualTo(1);
            assertThatThrownBy(() -> template.update("INSERT INTO s VALUES ('k1', 0)"))
                    .isInstanceOf(DuplicateKeyException.class);
            assertThatThrownBy(() -> template.queryForList("SELECT * FROM missing"))
                    .isInstanceOf(BadSqlGrammarException.class);
        }
    }
}
