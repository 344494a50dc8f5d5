package org.rowankv.kryo;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import com.esotericsoftware.kryo.serializers.CompatibleFieldSerializer;
import com.esotericsoftware.kryo.util.DefaultInstantiatorStrategy;
import com.esotericsoftware.kryo.util.MapReferenceResolver;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Predicate;
import org.objenesis.strategy.StdInstantiatorStrategy;
import org.rowankv.jcache.codec.custom.ValueCodec;
import org.rowankv.jcache.codec.custom.ValueCodecs;

/**
 * Objects by Kryo: template entry {@code codec=kryo}. Classes need no registration, since the cache's class rules are asked for each
 * that a value or its bytes name; they may gain and lose fields, records may not. References are kept, cycles too.
 *
 * <p>A value with classes that were not met before is read back before it is stored, so that what cannot be read fails at
 * {@code put}. Sizes in the bytes are believed: do not use it where another client's bytes are not trusted.
 *
 * <p>An application with serializers or registrations of its own makes a subclass with another name, and lists that as a
 * service. Thread-safe.
 */
public class KryoCodec implements ValueCodec {
    private static final int BUFFER = 4 << 10;
    private static final int KEPT_BUFFER = 1 << 20;
    private static final int IDLE = 32;

    /** Kryo is no thread's in particular, and expensive to make. */
    private record Instance(Kryo kryo, AllowedClassResolver classes, Output out) {}

    private final String name;
    private final BlockingQueue<Instance> idle = new ArrayBlockingQueue<>(IDLE);

    /** The codec {@code kryo}. */
    public KryoCodec() {
        this("kryo");
    }

    /** @param name in templates */
    protected KryoCodec(String name) {
        this.name = name;
    }

    /** Adds serializers and registrations; the same, in the same order, for as long as the cache exists. */
    protected void configure(Kryo kryo) {}

    @Override
    public String name() {
        return name;
    }

    /** Neither exceptions nor what {@linkplain ValueCodecs#isReplaced is replaced}, and of the JDK's classes only arrays and public collections and maps: others hide their fields. */
    @Override
    public boolean takes(Class<?> type) {
        return !type.isHidden()
                && !type.isSynthetic()
                && !Throwable.class.isAssignableFrom(type)
                && !ValueCodecs.isReplaced(type)
                && (type.isArray()
                        || !type.getName().startsWith("java.")
                        || Modifier.isPublic(type.getModifiers())
                                && (Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type)));
    }

    private Instance take() {
        final Instance found = idle.poll();
        if (found != null) {
            return found;
        }
        final AllowedClassResolver classes = new AllowedClassResolver();
        final Kryo kryo = new Kryo(classes, new MapReferenceResolver());
        kryo.setRegistrationRequired(false);
        kryo.setInstantiatorStrategy(new DefaultInstantiatorStrategy(new StdInstantiatorStrategy()));
        kryo.setDefaultSerializer(CompatibleFieldSerializer.class);
        configure(kryo);
        return new Instance(kryo, classes, new Output(BUFFER, -1));
    }

    /** Only after success: a failure may leave parts of a value behind. */
    private void giveBack(Instance instance) {
        if (instance.out().getBuffer().length <= KEPT_BUFFER) {
            final boolean unused = idle.offer(instance);
        }
    }

    @Override
    public void encode(Object value, OutputStream out, ClassLoader loader, Predicate<Class<?>> allowed)
            throws IOException {
        final Instance instance = take();
        final Output bytes = instance.out();
        bytes.reset();
        instance.classes().ask(allowed);
        instance.kryo().setClassLoader(loader);
        instance.kryo().writeClassAndObject(bytes, value);
        if (instance.classes().hasMetNewClass()) {
            readBack(instance, value);
        }
        out.write(bytes.getBuffer(), 0, bytes.position());
        giveBack(instance);
    }

    private static void readBack(Instance instance, Object value) throws IOException {
        final Object copy;
        try {
            copy = instance.kryo()
                    .readClassAndObject(new Input(
                            instance.out().getBuffer(), 0, instance.out().position()));
        } catch (RuntimeException e) {
            throw new IOException("its bytes could not be read back: " + e.getMessage(), e);
        }
        if (copy == null || copy.getClass() != value.getClass()) {
            throw new IOException("its bytes are read back as a "
                    + (copy == null ? "null" : copy.getClass().getName()));
        }
    }

    @Override
    public Object decode(InputStream in, ClassLoader loader, Predicate<Class<?>> allowed) throws IOException {
        final Instance instance = take();
        instance.classes().ask(allowed);
        instance.kryo().setClassLoader(loader);
        final Input bytes = new Input(in.readAllBytes());
        final Object value = instance.kryo().readClassAndObject(bytes);
        if (!bytes.end()) {
            throw new IOException("there are bytes behind the value");
        }
        giveBack(instance);
        return value;
    }
}
