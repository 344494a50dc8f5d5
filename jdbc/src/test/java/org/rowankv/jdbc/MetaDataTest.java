package org.rowankv.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import javax.sql.ConnectionEvent;
import javax.sql.ConnectionEventListener;
import javax.sql.PooledConnection;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tools find the caches, their columns and keys, and what the driver does not do. */
final class MetaDataTest {
    private static final String URL = "rowan:embedded?servers=1&capacity=32m&name=metadata";

    private CacheManager manager;
    private Connection connection;

    @BeforeEach
    void open() throws SQLException {
        manager = Caching.getCachingProvider("org.rowankv.jcache.spi.RowanCachingProvider")
                .getCacheManager(URI.create(URL), null);
        manager.createCache("names", new MutableConfiguration<Integer, String>().setTypes(Integer.class, String.class))
                .put(1, "one");
        manager.createCache("sums", new MutableConfiguration<String, Long>().setTypes(String.class, Long.class));
        connection = DriverManager.getConnection("jdbc:" + URL);
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
        manager.close();
    }

    private static List<String> column(ResultSet rows, String name) throws SQLException {
        final List<String> all = new ArrayList<>();
        while (rows.next()) {
            all.add(rows.getString(name));
        }
        rows.close();
        return all;
    }

    @Test
    void shouldShowCachesAsTables() throws SQLException {
        final DatabaseMetaData metaData = connection.getMetaData();

        assertThat(column(metaData.getTables(null, "CACHES", "%", new String[] {"BASE TABLE"}), "TABLE_NAME"))
                .containsExactly("names", "sums");
        assertThat(column(metaData.getTables(null, null, "names", null), "TABLE_NAME"))
                .containsExactly("names");
        assertThat(column(metaData.getColumns(null, "CACHES", "sums", "%"), "COLUMN_NAME"))
                .contains("_KEY", "_VALUE");
        assertThat(column(metaData.getColumns(null, "CACHES", "sums", "%"), "TYPE_NAME"))
                .startsWith("CHARACTER VARYING", "BIGINT");
        assertThat(column(metaData.getPrimaryKeys(null, "CACHES", "sums"), "COLUMN_NAME"))
                .containsExactly("_KEY");
        assertThat(column(metaData.getSchemas(), "TABLE_SCHEM")).contains("CACHES");
        try (Statement statement = connection.createStatement()) {
            assertThat(column(
                            statement.executeQuery("SELECT table_name FROM INFORMATION_SCHEMA.tables"
                                    + " WHERE table_schema = 'CACHES' ORDER BY 1"),
                            "table_name"))
                    .containsExactly("names", "sums");
            assertThat(column(
                            statement.executeQuery("SELECT constraint_type FROM INFORMATION_SCHEMA.table_constraints"
                                    + " WHERE table_name = 'sums'"),
                            "constraint_type"))
                    .containsExactly("PRIMARY KEY");
        }
    }

    @Test
    void shouldFindNewCachesWithoutANewConnection() throws SQLException {
        manager.createCache("later", new MutableConfiguration<Integer, String>().setTypes(Integer.class, String.class))
                .put(1, "x");

        try (Statement statement = connection.createStatement()) {
            assertThat(column(statement.executeQuery("SELECT _value FROM later"), "_VALUE"))
                    .containsExactly("x");
            manager.destroyCache("later");
            assertThatThrownBy(() -> statement.executeQuery("SELECT * FROM later"))
                    .isInstanceOf(SQLException.class);
        }
    }

    @Test
    void shouldSayThatThereAreNoTransactions() throws SQLException {
        final DatabaseMetaData metaData = connection.getMetaData();

        assertThat(metaData.getDatabaseProductName()).isEqualTo("Rowan-KV");
        assertThat(metaData.supportsTransactions()).isFalse();
        assertThat(metaData.supportsTransactionIsolationLevel(Connection.TRANSACTION_READ_COMMITTED))
                .isFalse();
        assertThat(metaData.getDefaultTransactionIsolation()).isEqualTo(Connection.TRANSACTION_NONE);
        assertThat(metaData.getURL()).isEqualTo("jdbc:" + URL);
        assertThat(metaData.getConnection()).isSameAs(connection);
        assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_NONE);
        assertThatThrownBy(() -> connection.setAutoCommit(false)).isInstanceOf(SQLFeatureNotSupportedException.class);
        assertThatThrownBy(connection::rollback).isInstanceOf(SQLException.class);
        assertThatThrownBy(connection::setSavepoint).isInstanceOf(SQLFeatureNotSupportedException.class);
        try (Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement
                            .executeQuery("SELECT * FROM names FOR UPDATE")
                            .next())
                    .isInstanceOf(SQLException.class);
        }
    }

    @Test
    void shouldTolerateAutocommitWhenAsked() throws SQLException {
        try (Connection tolerant = DriverManager.getConnection("jdbc:" + URL + "&autocommit=ignore")) {
            tolerant.setAutoCommit(false);
            assertThat(tolerant.getAutoCommit()).isFalse();
            tolerant.commit();
            assertThatThrownBy(tolerant::rollback).isInstanceOf(SQLException.class);
        }
        assertThatThrownBy(() -> DriverManager.getConnection("jdbc:" + URL + "&autocommit=maybe"))
                .isInstanceOf(SQLException.class);
    }

    @Test
    void shouldLendAConnection() throws SQLException {
        final RowanDataSource source = new RowanDataSource("jdbc:" + URL);
        final PooledConnection pooled = source.getPooledConnection();
        final List<String> events = new ArrayList<>();
        pooled.addConnectionEventListener(new ConnectionEventListener() {
            @Override
            public void connectionClosed(ConnectionEvent event) {
                events.add("closed");
            }

            @Override
            public void connectionErrorOccurred(ConnectionEvent event) {
                events.add("error");
            }
        });
        final Connection first = pooled.getConnection();
        final Statement statement = first.createStatement();
        assertThat(statement.getConnection()).isSameAs(first);
        first.close();
        first.close();
        assertThat(statement.isClosed()).isTrue();
        assertThat(events).containsExactly("closed");
        final Connection second = pooled.getConnection();
        assertThat(second.isValid(1)).isTrue();
        assertThat(first.isClosed()).isTrue();
        pooled.close();
        assertThat(second.isClosed()).isTrue();
        assertThat(source.unwrap(RowanDataSource.class)).isSameAs(source);
    }

    @Test
    void shouldRefuseWhatNamesNoStore() {
        assertThatThrownBy(() -> DriverManager.getConnection("jdbc:rowan:nowhere"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("08001"));
        assertThatThrownBy(() -> DriverManager.getConnection("jdbc:rowan:embedded?colour=red"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("08001"));
    }
}
