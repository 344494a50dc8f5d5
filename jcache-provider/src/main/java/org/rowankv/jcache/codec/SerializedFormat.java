package org.rowankv.jcache.codec;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InvalidClassException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.OutputStream;
import java.lang.reflect.Proxy;
import javax.cache.CacheException;

/** Format of objects without their own tag: Java serialization under {@link ClassRules}. Thread-safe. */
final class SerializedFormat {
    private final LoaderReference loader;
    private final ClassRules rules;

    SerializedFormat(LoaderReference loader, ClassRules rules) {
        this.loader = loader;
        this.rules = rules;
    }

    void write(Object value, ByteSink out) {
        out.write(Tag.SERIALIZED);
        final int start = out.length();
        try (ObjectOutputStream stream = new CheckedOutput(out, rules)) {
            stream.writeObject(value);
        } catch (IOException e) {
            throw new CacheException("an object of " + value.getClass() + " cannot be serialized", e);
        }
        try {
            final long unused = SerializedScan.check(out.bytes(), start, out.length() - start);
        } catch (MalformedBytesException e) {
            throw new CacheException(
                    "an object of " + value.getClass() + " is not stored, since it would be refused when read", e);
        }
    }

    Object read(byte[] bytes, int offset, int length) {
        final long unused = SerializedScan.check(bytes, offset, length);
        try (ObjectInputStream stream =
                new LoaderInput(new ByteArrayInputStream(bytes, offset, length), loader, rules, length)) {
            return stream.readObject();
        } catch (ClassNotFoundException e) {
            throw loader.missing(String.valueOf(e.getMessage()), e);
        } catch (IOException e) {
            if (e.getCause() instanceof ClassNotAllowedException refused) {
                throw refused;
            }
            if (e.getCause() instanceof MalformedBytesException refused) {
                throw refused;
            }
            if (e instanceof InvalidClassException
                    && String.valueOf(e.getMessage()).contains("filter status")) {
                throw ClassNotAllowedException.ofJvm(null); // by a filter factory, which merges in its own way
            }
            throw new MalformedBytesException("a stored object cannot be deserialized", e);
        } catch (CacheException e) {
            throw e;
        } catch (LinkageError e) {
            throw loader.missing(String.valueOf(e.getMessage()), e);
        } catch (RuntimeException | InternalError e) { // thrown by a class's own readObject on a damaged stream
            throw new MalformedBytesException("a stored object cannot be deserialized", e);
        }
    }

    /** Refuses to write a class that would be refused on reading. */
    private static final class CheckedOutput extends ObjectOutputStream {
        private final ClassRules rules;

        CheckedOutput(OutputStream out, ClassRules rules) throws IOException {
            super(out);
            this.rules = rules;
        }

        @Override
        protected void annotateClass(Class<?> type) {
            rules.checkWithJvmFilter(type);
        }

        @Override
        protected void annotateProxyClass(Class<?> type) {
            for (Class<?> face : type.getInterfaces()) {
                rules.checkWithJvmFilter(face);
            }
        }
    }

    /** Resolves classes with the manager's class loader, without initialization. */
    private static final class LoaderInput extends ObjectInputStream {
        private final LoaderReference loader;
        private final ClassRules rules;

        LoaderInput(InputStream in, LoaderReference loader, ClassRules rules, int length) throws IOException {
            super(in);
            this.loader = loader;
            this.rules = rules;
            setObjectInputFilter(rules.filter(length));
        }

        @Override
        protected Class<?> resolveClass(ObjectStreamClass description) throws ClassNotFoundException {
            final Class<?> type = Class.forName(description.getName(), false, loader.get());
            rules.check(type); // here as well, because a filter factory of the JVM may drop the filter
            return type;
        }

        @Override
        protected Class<?> resolveProxyClass(String[] interfaces) throws ClassNotFoundException {
            final Class<?>[] faces = new Class<?>[interfaces.length];
            for (int i = 0; i < faces.length; i++) {
                faces[i] = Class.forName(interfaces[i], false, loader.get());
                rules.check(faces[i]);
            }
            return Proxy.newProxyInstance(loader.get(), faces, (proxy, method, arguments) -> null)
                    .getClass();
        }
    }
}
