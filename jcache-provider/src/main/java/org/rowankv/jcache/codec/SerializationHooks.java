package org.rowankv.jcache.codec;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectInputValidation;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import org.jspecify.annotations.Nullable;

/**
 * What Java serialization does to make an object of a class, through the JDK's {@code sun.reflect.ReflectionFactory}:
 * supported for serialization libraries, and reached by name since compilers warn of it. Thread-safe.
 */
final class SerializationHooks {
    private static final MethodHandle CONSTRUCTOR =
            find("newConstructorForSerialization", MethodType.methodType(Constructor.class, Class.class));
    private static final MethodHandle READ_OBJECT = find("readObjectForSerialization");
    private static final MethodHandle READ_RESOLVE = find("readResolveForSerialization");
    private static final MethodHandle WRITE_REPLACE = find("writeReplaceForSerialization");

    private static final MethodHandle WRITE_OBJECT = find("writeObjectForSerialization");

    private SerializationHooks() {}

    private static MethodHandle find(String name) {
        return find(name, MethodType.methodType(MethodHandle.class, Class.class));
    }

    private static MethodHandle find(String name, MethodType type) {
        try {
            final Class<?> factory = Class.forName("sun.reflect.ReflectionFactory");
            final MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            final Object instance = lookup.findStatic(factory, "getReflectionFactory", MethodType.methodType(factory))
                    .invoke();
            return lookup.findVirtual(factory, name, type).bindTo(instance);
        } catch (Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("this JVM lacks the module jdk.unsupported, which keys of classes need", e);
        }
    }

    /** A constructor that runs that of the first superclass that is not Serializable; null if there is none. */
    static @Nullable Constructor<?> constructor(Class<?> type) {
        return (Constructor<?>) call(CONSTRUCTOR, type);
    }

    /** The class's own {@code readObject}, or null. */
    static @Nullable MethodHandle readObject(Class<?> type) {
        return (MethodHandle) call(READ_OBJECT, type);
    }

    /** The class's own {@code readResolve}, or null. */
    static @Nullable MethodHandle readResolve(Class<?> type) {
        return (MethodHandle) call(READ_RESOLVE, type);
    }

    /** Whether another object is written in place of one of this class. */
    static boolean isReplaced(Class<?> type) {
        return call(WRITE_REPLACE, type) != null;
    }

    /** Whether the class has its own {@code writeObject}. */
    static boolean writesItself(Class<?> type) {
        return call(WRITE_OBJECT, type) != null;
    }

    private static @Nullable Object call(MethodHandle hook, Class<?> type) {
        try {
            return hook.invoke(type);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("the JDK's serialization cannot examine " + type, e);
        }
    }

    /**
     * The stream that a class's own {@code readObject} reads from: its fields alone. A class that reads more cannot be
     * made from its fields. Used by one thread for one call.
     */
    static final class FieldsInput extends ObjectInputStream {
        private final Runnable setFields;

        /** @param setFields sets the fields of the object that is being read */
        FieldsInput(Runnable setFields) throws IOException {
            this.setFields = setFields;
        }

        @Override
        public void defaultReadObject() {
            setFields.run();
        }

        @Override
        protected Object readObjectOverride() throws IOException {
            throw new IOException("its readObject reads more than its fields");
        }

        @Override
        public GetField readFields() throws IOException {
            throw new IOException("its readObject reads its fields by name");
        }

        @Override
        public void close() {
            // There is no stream below.
        }

        @Override
        public void registerValidation(ObjectInputValidation object, int priority) {
            // Only the deserialization of a whole graph validates, at its end.
        }
    }
}
