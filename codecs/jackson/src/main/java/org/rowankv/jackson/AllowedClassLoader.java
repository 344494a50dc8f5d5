package org.rowankv.jackson;

import java.util.function.Predicate;

/**
 * The cache manager's class loader as Jackson sees it: it gives only what the class rules allow. Jackson initializes each class that
 * the JSON names, such as type parameters, values of type {@code Class} and subtypes, before it asks whether it may. Thread-safe.
 */
final class AllowedClassLoader extends ClassLoader {
    private final Predicate<Class<?>> allowed;

    AllowedClassLoader(ClassLoader parent, Predicate<Class<?>> allowed) {
        super(parent);
        this.allowed = allowed;
    }

    /** Throws an error where others throw an exception, after which Jackson would ask its own class loader. */
    @Override
    protected Class<?> loadClass(String name, boolean resolve) {
        final Class<?> type;
        try {
            type = super.loadClass(name, resolve);
        } catch (ClassNotFoundException e) {
            throw new NoClassDefFoundError(name);
        }
        if (!allowed.test(type)) {
            throw new Refused(type);
        }
        return type;
    }

    /** A class that may not be used. */
    static final class Refused extends LinkageError {
        private static final long serialVersionUID = 1L;

        private final transient Class<?> type;

        Refused(Class<?> type) {
            super("the class " + type.getName() + " is not allowed");
            this.type = type;
        }

        Class<?> type() {
            return type;
        }
    }
}
