package org.rowankv.jdbc;

import java.lang.reflect.Method;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicBoolean;
import org.h2.jdbc.JdbcConnection;
import org.jspecify.annotations.Nullable;

/** A connection: without transactions, and says so. */
final class ConnectionHandler extends JdbcHandler {
    private final JdbcConnection connection;
    private final ConnectionUrl url;
    private final Executions executions;
    private final Runnable whenClosed;
    private final AtomicBoolean released = new AtomicBoolean();
    private boolean autocommit = true;

    private ConnectionHandler(JdbcConnection connection, ConnectionUrl url, Executions executions, Runnable whenClosed) {
        super(connection);
        this.connection = connection;
        this.url = url;
        this.executions = executions;
        this.whenClosed = whenClosed;
    }

    static Connection wrap(JdbcConnection connection, ConnectionUrl url, Executions executions, Runnable whenClosed) {
        return proxy(Connection.class, new ConnectionHandler(connection, url, executions, whenClosed));
    }

    @Override
    @Nullable
    Object handle(Object proxy, Method method, @Nullable Object[] arguments) throws Throwable {
        switch (method.getName()) {
            case "createStatement" -> {
                return statement(Statement.class, proxy, method, arguments);
            }
            case "prepareStatement" -> {
                return statement(PreparedStatement.class, proxy, method, arguments);
            }
            case "prepareCall" -> {
                return statement(CallableStatement.class, proxy, method, arguments);
            }
            case "getMetaData" -> {
                final Object metaData = forward(method, arguments);
                return MetaDataHandler.wrap(
                        metaData == null ? connection.getMetaData() : (DatabaseMetaData) metaData,
                        (Connection) proxy,
                        url);
            }
            case "close", "abort" -> {
                try {
                    return forward(method, arguments);
                } finally {
                    release();
                }
            }
            default -> {
                return transaction(method, arguments);
            }
        }
    }

    private void release() {
        if (released.compareAndSet(false, true)) {
            whenClosed.run();
        }
    }

    private <T extends Statement> T statement(Class<T> type, Object proxy, Method method, @Nullable Object[] arguments)
            throws Throwable {
        final Object statement = forward(method, arguments);
        if (statement == null) {
            throw new SQLException("no statement was made", "HY000");
        }
        return StatementHandler.wrap(
                type,
                type.cast(statement),
                (Connection) proxy,
                executions,
                arguments.length > 0 && arguments[0] instanceof String sql ? sql : "");
    }

    private @Nullable Object transaction(Method method, @Nullable Object[] arguments) throws Throwable {
        switch (method.getName()) {
            case "setAutoCommit" -> {
                requireOpen();
                final boolean wanted = Boolean.TRUE.equals(arguments[0]);
                if (!wanted && !url.ignoresAutocommit()) {
                    throw new SQLFeatureNotSupportedException(
                            "there are no transactions; with autocommit=ignore in the URL this call has no effect",
                            "0A000");
                }
                autocommit = wanted;
                return null;
            }
            case "getAutoCommit" -> {
                requireOpen();
                return autocommit;
            }
            case "commit" -> {
                requireOpen();
                if (autocommit) {
                    throw new SQLException("commit in auto-commit mode", "25000");
                }
                return null;
            }
            case "rollback", "setSavepoint", "releaseSavepoint" -> {
                requireOpen();
                throw new SQLFeatureNotSupportedException(
                        "there are no transactions: what was written stays written", "0A000");
            }
            case "getTransactionIsolation" -> {
                requireOpen();
                return Connection.TRANSACTION_NONE;
            }
            case "setTransactionIsolation" -> {
                requireOpen();
                throw new SQLFeatureNotSupportedException("there are no transactions", "0A000");
            }
            default -> {
                return forward(method, arguments);
            }
        }
    }

    private void requireOpen() throws SQLException {
        if (connection.isClosed()) {
            throw new SQLException("the connection is closed", "08003");
        }
    }
}
