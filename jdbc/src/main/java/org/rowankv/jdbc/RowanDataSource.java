package org.rowankv.jdbc;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.ConnectionPoolDataSource;
import javax.sql.DataSource;
import javax.sql.PooledConnection;
import org.jspecify.annotations.Nullable;

/**
 * Source of connections to the caches of one store, by a URL of {@link RowanDriver}. The store is open while a connection
 * is. There are no users, so names and passwords are not looked at. Thread-safe once its properties are set.
 */
public final class RowanDataSource implements DataSource, ConnectionPoolDataSource {
    private String url = "";
    private final Properties properties = new Properties();
    private @Nullable PrintWriter logWriter;
    private int loginTimeout;

    /** For frameworks, which set the URL. */
    public RowanDataSource() {}

    public RowanDataSource(String url) {
        this.url = url;
    }

    public String getUrl() {
        return url;
    }

    public void setUrl(String newUrl) {
        url = newUrl;
    }

    /** As the property of that name in the URL: {@code ignore}, or empty. */
    public void setAutocommit(String autocommit) {
        properties.setProperty(ConnectionUrl.AUTOCOMMIT, autocommit);
    }

    private ConnectionUrl connectionUrl() throws SQLException {
        if (!url.startsWith(ConnectionUrl.PREFIX)) {
            throw new SQLException("the URL begins with " + ConnectionUrl.PREFIX + "; it is \"" + url + '"', "08001");
        }
        return ConnectionUrl.of(url, properties);
    }

    @Override
    public Connection getConnection() throws SQLException {
        return Connections.open(connectionUrl());
    }

    @Override
    public Connection getConnection(@Nullable String user, @Nullable String password) throws SQLException {
        return getConnection();
    }

    @Override
    public PooledConnection getPooledConnection() throws SQLException {
        return Connections.openPooled(connectionUrl());
    }

    @Override
    public PooledConnection getPooledConnection(@Nullable String user, @Nullable String password) throws SQLException {
        return getPooledConnection();
    }

    @Override
    public @Nullable PrintWriter getLogWriter() {
        return logWriter;
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter writer) {
        logWriter = writer;
    }

    @Override
    public void setLoginTimeout(int seconds) {
        loginTimeout = seconds;
    }

    @Override
    public int getLoginTimeout() {
        return loginTimeout;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException("this driver logs with SLF4J", "0A000");
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        if (isWrapperFor(type)) {
            return type.cast(this);
        }
        throw new SQLException("this is no wrapper of " + type, "HY000");
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return type.isInstance(this);
    }
}
