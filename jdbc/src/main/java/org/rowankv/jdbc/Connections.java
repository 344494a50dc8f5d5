package org.rowankv.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Properties;
import javax.sql.PooledConnection;
import org.h2.engine.Constants;
import org.h2.engine.Database;
import org.h2.engine.SessionLocal;
import org.h2.jdbc.JdbcConnection;
import org.rowankv.jcache.store.SharedStore;
import org.rowankv.jdbc.table.CacheSchema;
import org.rowankv.jdbc.table.CacheStore;
import org.rowankv.jdbc.table.StatementScope;

/**
 * Opener of connections. Each has a private database in memory, which holds no rows: its schema shows the caches of the
 * store. The connection's user has no administrative rights there, and owns only that schema. Stateless.
 */
final class Connections {
    /** The internal interfaces of H2 may differ in another version. */
    private static final String H2_VERSION = "2.3.232";

    private static final String SCHEMA = "CACHES";
    private static final String H2_URL = "jdbc:h2:mem:;DATABASE_TO_UPPER=FALSE;CASE_INSENSITIVE_IDENTIFIERS=TRUE"
            + ";JAVA_OBJECT_SERIALIZER='" + NoJavaObjects.class.getName()
            + "';NON_KEYWORDS=KEY,VALUE,USER,YEAR,MONTH,DAY,HOUR,MINUTE,SECOND";

    private Connections() {}

    static Connection open(ConnectionUrl url) throws SQLException {
        return open(url, ConnectionHandler::wrap);
    }

    static PooledConnection openPooled(ConnectionUrl url) throws SQLException {
        return open(url, ReusedConnection::new);
    }

    /** What the application gets of a connection to the private database. */
    private interface Front<T> {
        T of(JdbcConnection database, ConnectionUrl url, Executions executions, Runnable whenClosed);
    }

    private static <T> T open(ConnectionUrl url, Front<T> front) throws SQLException {
        if (!Constants.VERSION.equals(H2_VERSION)) {
            throw new SQLException(
                    "rowan-jdbc needs com.h2database:h2:" + H2_VERSION + ", and the class path has "
                            + Constants.VERSION,
                    "08001");
        }
        final ClassLoader context = Thread.currentThread().getContextClassLoader();
        final ClassLoader loader = context == null ? ClassLoader.getSystemClassLoader() : context;
        final StoreUse use = StoreUse.acquire(url, loader);
        boolean opened = false;
        try {
            final T connection = open(url, use.store(), loader, use::release, front);
            opened = true;
            return connection;
        } finally {
            if (!opened) {
                use.release();
            }
        }
    }

    /** A connection to a store that is open. */
    static Connection open(ConnectionUrl url, SharedStore store, Runnable whenClosed) throws SQLException {
        return open(url, store, ClassLoader.getSystemClassLoader(), whenClosed, ConnectionHandler::wrap);
    }

    private static <T> T open(
            ConnectionUrl url, SharedStore store, ClassLoader loader, Runnable whenClosed, Front<T> front)
            throws SQLException {
        final JdbcConnection database = new JdbcConnection(H2_URL, new Properties(), "rowan", "", false);
        final StatementScope scope = new StatementScope();
        showCaches((SessionLocal) database.getSession(), new CacheStore(store, loader), scope);
        return front.of(database, url, new Executions(database, scope), whenClosed);
    }

    private static void showCaches(SessionLocal session, CacheStore store, StatementScope scope) {
        final Database database = session.getDatabase();
        final CacheSchema schema =
                new CacheSchema(database, database.allocateObjectId(), SCHEMA, session.getUser(), store, scope);
        schema.setTemporary(true); // not written to the database's own tables
        database.addDatabaseObject(session, schema);
        session.commit(true);
        session.setCurrentSchema(schema);
        session.getUser().setAdmin(false);
    }
}
