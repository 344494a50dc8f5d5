package org.rowankv.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import javax.sql.PooledConnection;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Every method of the interfaces of {@code java.sql}: on an open object it returns or throws an SQLException, whatever its
 * arguments are; on a closed object it throws one, where the specification names no exception.
 */
final class ConformanceTest {
    private static final String URL = "rowan:embedded?servers=1&capacity=32m&name=conformance";
    private static final Set<String> OF_CLOSED = Set.of(
            "close", "isClosed", "abort", "isWrapperFor", "unwrap", "isValid", "enquoteLiteral", "enquoteNCharLiteral");

    /** They throw a NullPointerException for null. */
    private static final Set<String> OF_TEXT =
            Set.of("enquoteLiteral", "enquoteNCharLiteral", "enquoteIdentifier", "isSimpleIdentifier");

    private CacheManager manager;
    private int checks;
    private final List<String> failures = new ArrayList<>();

    @BeforeEach
    void open() {
        manager = Caching.getCachingProvider("org.rowankv.jcache.spi.RowanCachingProvider")
                .getCacheManager(URI.create(URL), null);
        final Cache<Integer, String> cache = manager.createCache(
                "c", new MutableConfiguration<Integer, String>().setTypes(Integer.class, String.class));
        cache.put(1, "one");
    }

    @AfterEach
    void close() {
        manager.close();
    }

    private static Connection connect() throws SQLException {
        return DriverManager.getConnection("jdbc:" + URL);
    }

    private static List<Method> methodsOf(Class<?> type) {
        return Arrays.stream(type.getMethods())
                .filter(method -> !Modifier.isStatic(method.getModifiers()))
                .sorted(Comparator.comparing(Method::toString))
                .toList();
    }

    private static Object[] argumentsOf(Method method, int number) {
        return Arrays.stream(method.getParameterTypes())
                .map(type -> {
                    if (!type.isPrimitive()) {
                        return type == String.class && number > 0 ? "nothing" : null;
                    }
                    return switch (type.getName()) {
                        case "boolean" -> (Object) (number > 0);
                        case "int" -> number;
                        case "long" -> (long) number;
                        case "short" -> (short) number;
                        case "byte" -> (byte) number;
                        case "float" -> (float) number;
                        default -> (double) number;
                    };
                })
                .toArray();
    }

    /** Null if the call has returned. */
    private static Throwable failureOf(Method method, Object target, Object[] arguments) throws IllegalAccessException {
        try {
            final Object unused = method.invoke(target, arguments);
            return null;
        } catch (InvocationTargetException e) {
            return e.getCause();
        }
    }

    private <T> void checkOpen(Class<T> type, Callable<T> opener) throws Exception {
        for (Method method : methodsOf(type)) {
            for (int number = -1; number <= 1; number++) {
                final T target = opener.call();
                final Throwable failure = failureOf(method, target, argumentsOf(method, number));
                checks++;
                final boolean isSpecified =
                        failure instanceof NullPointerException && OF_TEXT.contains(method.getName());
                if (failure != null && !(failure instanceof SQLException) && !isSpecified) {
                    failures.add(method + " with " + number + ": " + failure);
                }
            }
        }
    }

    private <T> void checkClosed(Class<T> type, Callable<T> opener) throws Exception {
        for (Method method : methodsOf(type)) {
            if (OF_CLOSED.contains(method.getName())) {
                continue;
            }
            final T target = opener.call();
            final Throwable failure = failureOf(method, target, argumentsOf(method, 1));
            checks++;
            if (!(failure instanceof SQLException)) {
                failures.add(method + " of a closed object: " + failure);
            }
        }
    }

    @Test
    void shouldHoldForEveryMethod() throws Exception {
        final Connection connection = connect();
        checkOpen(Connection.class, ConformanceTest::connect);
        checkOpen(Statement.class, connection::createStatement);
        checkOpen(PreparedStatement.class, () -> connection.prepareStatement("SELECT * FROM c WHERE _key = ?"));
        checkOpen(CallableStatement.class, () -> connection.prepareCall("SELECT * FROM c WHERE _key = ?"));
        checkOpen(DatabaseMetaData.class, connection::getMetaData);
        checkOpen(ResultSet.class, () -> {
            final ResultSet rows = connection.createStatement().executeQuery("SELECT * FROM c");
            rows.next();
            return rows;
        });
        checkOpen(
                ResultSetMetaData.class,
                () -> connection
                        .createStatement()
                        .executeQuery("SELECT * FROM c")
                        .getMetaData());
        checkOpen(
                ParameterMetaData.class,
                () -> connection
                        .prepareStatement("SELECT * FROM c WHERE _key = ?")
                        .getParameterMetaData());
        checkClosed(Connection.class, () -> {
            final Connection closed = connect();
            closed.close();
            return closed;
        });
        checkClosed(Connection.class, () -> {
            final PooledConnection pooled = new RowanDataSource("jdbc:" + URL).getPooledConnection();
            final Connection lent = pooled.getConnection();
            lent.close();
            return lent;
        });
        checkClosed(Statement.class, () -> {
            final Statement closed = connection.createStatement();
            closed.close();
            return closed;
        });
        checkClosed(PreparedStatement.class, () -> {
            final PreparedStatement closed = connection.prepareStatement("SELECT 1");
            closed.close();
            return closed;
        });
        checkClosed(CallableStatement.class, () -> {
            final CallableStatement closed = connection.prepareCall("SELECT 1");
            closed.close();
            return closed;
        });
        checkClosed(ResultSet.class, () -> {
            final ResultSet closed = connection.createStatement().executeQuery("SELECT * FROM c");
            closed.close();
            return closed;
        });
        connection.close();

        System.out.println("jdbc-conformance: checks=" + checks + " failed=" + failures.size());
        assertThat(failures).isEmpty();
        assertThat(checks).isGreaterThan(600);
    }
}
