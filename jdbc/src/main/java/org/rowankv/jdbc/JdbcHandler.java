package org.rowankv.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One object of {@code java.sql} in front of H2's. What it does not decide itself is forwarded. As thread-safe as what
 * stands behind it.
 */
abstract class JdbcHandler implements InvocationHandler {
    private final Object target;

    JdbcHandler(Object target) {
        this.target = target;
    }

    static <T> T proxy(Class<T> type, JdbcHandler handler, Class<?>... more) {
        final Class<?>[] types = Arrays.copyOf(more, more.length + 1);
        types[more.length] = type;
        return type.cast(Proxy.newProxyInstance(JdbcHandler.class.getClassLoader(), types, handler));
    }

    @Override
    public final @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        final @Nullable Object[] given = arguments == null ? new @Nullable Object[0] : arguments;
        if (method.getDeclaringClass() == Object.class) {
            return switch (method.getName()) {
                case "equals" -> proxy == given[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> "rowan " + target.getClass().getSimpleName() + '@' + System.identityHashCode(proxy);
            };
        }
        return switch (method.getName()) {
            case "unwrap" -> unwrap(proxy, given[0]);
            case "isWrapperFor" -> given[0] instanceof Class<?> type && type.isInstance(proxy);
            default -> handle(proxy, method, given);
        };
    }

    private static Object unwrap(Object proxy, @Nullable Object type) throws SQLException {
        if (type instanceof Class<?> wanted && wanted.isInstance(proxy)) {
            return proxy;
        }
        throw new SQLException("this is no wrapper of " + type, "HY000");
    }

    /** The call's result. */
    abstract @Nullable Object handle(Object proxy, Method method, @Nullable Object[] arguments) throws Throwable;

    /** Forwards a call to H2's object. */
    final @Nullable Object forward(Method method, @Nullable Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }
}
