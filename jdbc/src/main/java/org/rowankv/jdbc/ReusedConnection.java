package org.rowankv.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.ConnectionEvent;
import javax.sql.ConnectionEventListener;
import javax.sql.PooledConnection;
import javax.sql.StatementEventListener;
import org.h2.jdbc.JdbcConnection;
import org.jspecify.annotations.Nullable;

/** A connection that a pool lends to one user after another; each has a handle of its own. Used by one at a time. */
final class ReusedConnection implements PooledConnection {
    private final JdbcConnection connection;
    private final ConnectionUrl url;
    private final Executions executions;
    private final Runnable whenClosed;
    private final List<ConnectionEventListener> listeners = new CopyOnWriteArrayList<>();
    private @Nullable Connection lent;

    ReusedConnection(JdbcConnection connection, ConnectionUrl url, Executions executions, Runnable whenClosed) {
        this.connection = connection;
        this.url = url;
        this.executions = executions;
        this.whenClosed = whenClosed;
    }

    @Override
    public Connection getConnection() throws SQLException {
        if (connection.isClosed()) {
            throw new SQLException("the connection is closed", "08003");
        }
        final Connection before = lent;
        lent = null;
        if (before != null) {
            before.close();
        }
        final Connection handle = ConnectionHandler.lend(connection, url, executions, this::returned);
        lent = handle;
        return handle;
    }

    private void returned() {
        final ConnectionEvent event = new ConnectionEvent(this);
        listeners.forEach(listener -> listener.connectionClosed(event));
    }

    @Override
    public void close() throws SQLException {
        if (!connection.isClosed()) {
            try {
                connection.close();
            } finally {
                whenClosed.run();
            }
        }
    }

    @Override
    public void addConnectionEventListener(ConnectionEventListener listener) {
        listeners.add(listener);
    }

    @Override
    public void removeConnectionEventListener(ConnectionEventListener listener) {
        listeners.remove(listener);
    }

    /** Statements are not pooled. */
    @Override
    public void addStatementEventListener(StatementEventListener listener) {}

    @Override
    public void removeStatementEventListener(StatementEventListener listener) {}
}
