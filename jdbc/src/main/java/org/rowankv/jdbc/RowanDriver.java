package org.rowankv.jdbc;

import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Properties;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Driver of {@code jdbc:rowan:} URLs, whose rest names a store as in the cache API: {@code
 * jdbc:rowan:embedded?dir=/path}, {@code jdbc:rowan://host:port;host:port/}, {@code jdbc:rowan:NAME}. A table is a cache.
 * There are no transactions. Thread-safe; a connection is used by one thread at a time.
 */
public final class RowanDriver implements Driver {
    static {
        try {
            DriverManager.registerDriver(new RowanDriver());
        } catch (SQLException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** For {@link java.util.ServiceLoader}. */
    public RowanDriver() {}

    @Override
    public @Nullable Connection connect(String url, @Nullable Properties info) throws SQLException {
        if (!acceptsURL(url)) {
            return null;
        }
        return Connections.open(ConnectionUrl.of(url, info == null ? new Properties() : info));
    }

    @Override
    public boolean acceptsURL(String url) throws SQLException {
        if (url == null) {
            throw new SQLException("the URL is null", "08001");
        }
        return url.startsWith(ConnectionUrl.PREFIX);
    }

    @Override
    public DriverPropertyInfo[] getPropertyInfo(String url, @Nullable Properties info) {
        final DriverPropertyInfo autocommit = new DriverPropertyInfo(
                ConnectionUrl.AUTOCOMMIT, info == null ? "" : info.getProperty(ConnectionUrl.AUTOCOMMIT, ""));
        autocommit.description = "ignore: setAutoCommit(false) and commit() have no effect instead of being refused";
        autocommit.choices = new String[] {"", ConnectionUrl.IGNORE};
        return new DriverPropertyInfo[] {autocommit};
    }

    @Override
    public int getMajorVersion() {
        return 0;
    }

    @Override
    public int getMinorVersion() {
        return 1;
    }

    @Override
    public boolean jdbcCompliant() {
        return false; // for that a driver needs transactions
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException("this driver logs with SLF4J", "0A000");
    }
}
