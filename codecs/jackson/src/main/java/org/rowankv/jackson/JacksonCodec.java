package org.rowankv.jackson;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.util.LRUMap;
import com.fasterxml.jackson.databind.util.LookupCache;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.codec.custom.ValueCodec;
import org.rowankv.jcache.codec.custom.ValueCodecs;

/**
 * Records and beans as JSON: template entry {@code codec=jackson}. A value is {@code {"type":"com.acme.Book","value":{...}}};
 * its parts are read by the declared types of its properties, so an {@code Object} comes back as a map or list. Classes may gain
 * and lose properties. Collections, maps and arrays that are values themselves are left to {@code codec=record}.
 *
 * <p>Only classes that the cache's class rules allow are written and read; default typing is off. The first value of each
 * class is read back before it is stored, so that a class that cannot be read fails at {@code put}. Exceptions, which JSON would
 * change, and classes with {@code readResolve} or {@code writeReplace} are left to {@code codec=record} too.
 *
 * <p>An application with a mapper of its own makes a subclass with another name, and lists that as a service. Thread-safe.
 */
public class JacksonCodec implements ValueCodec {
    private static final String TYPE = "type";
    private static final String VALUE = "value";
    private static final int TYPES_CACHED = 200;

    /** A mapper whose classes come from this loader. */
    private record Bound(ClassLoader loader, ObjectMapper mapper) {}

    private final String name;
    private final ObjectMapper mapper;
    private volatile @Nullable Bound bound;
    private final Set<Class<?>> readBack = ConcurrentHashMap.newKeySet();

    /** The codec {@code jackson}: dates as texts with their zones, unknown properties ignored. */
    public JacksonCodec() {
        this(
                "jackson",
                JsonMapper.builder()
                        .addModule(new Jdk8Module())
                        .addModule(new JavaTimeModule())
                        .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
                        .disable(SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
                        .enable(SerializationFeature.WRITE_DATES_WITH_ZONE_ID)
                        .disable(DeserializationFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
                        .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                        .build());
    }

    /**
     * A codec with the mapper's settings. Its default typing is not taken over, nor are its limits of lengths: what was stored can
     * be read.
     *
     * @param name in templates
     * @param mapper copied
     */
    protected JacksonCodec(String name, ObjectMapper mapper) {
        this.name = name;
        this.mapper = mapper.copy()
                .deactivateDefaultTyping()
                .setPolymorphicTypeValidator(new AllowedSubtypes())
                .registerModule(AllowedBeans.module());
        final JsonFactory factory = this.mapper.getFactory();
        factory.setStreamReadConstraints(StreamReadConstraints.builder()
                .maxNestingDepth(factory.streamWriteConstraints().getMaxNestingDepth())
                .maxStringLength(Integer.MAX_VALUE)
                .maxNameLength(Integer.MAX_VALUE)
                .maxNumberLength(Integer.MAX_VALUE)
                .build());
    }

    private ObjectMapper mapper(ClassLoader loader, Predicate<Class<?>> allowed) {
        final Bound present = bound;
        if (present != null && present.loader() == loader) {
            return present.mapper();
        }
        final ObjectMapper made = mapper.copy();
        // With its own cache of types: the shared one would keep the classes of applications.
        final LookupCache<Object, JavaType> types = new LRUMap<>(16, TYPES_CACHED);
        made.setTypeFactory(
                made.getTypeFactory().withCache(types).withClassLoader(new AllowedClassLoader(loader, allowed)));
        bound = new Bound(loader, made);
        return made;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean takes(Class<?> type) {
        return !type.isArray()
                && !type.getName().startsWith("java.")
                && !type.isHidden()
                && !type.isSynthetic()
                && !Throwable.class.isAssignableFrom(type)
                && !ValueCodecs.isReplaced(type)
                && !Collection.class.isAssignableFrom(type)
                && !Map.class.isAssignableFrom(type);
    }

    @Override
    public void encode(Object value, OutputStream out, ClassLoader loader, Predicate<Class<?>> allowed)
            throws IOException {
        final ObjectMapper own = mapper(loader, allowed);
        final Class<?> type = value.getClass();
        if (readBack.contains(type)) {
            write(own, value, out, allowed);
            return;
        }
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        write(own, value, bytes, allowed);
        final Object copy;
        try {
            copy = decode(new ByteArrayInputStream(bytes.toByteArray()), loader, allowed);
        } catch (IOException | ClassNotFoundException e) {
            throw new IOException("its JSON could not be read back: " + e.getMessage(), e);
        }
        if (copy.getClass() != type) {
            throw new IOException(
                    "its JSON is read back as a " + copy.getClass().getName());
        }
        readBack.add(type);
        bytes.writeTo(out);
    }

    private static void write(ObjectMapper own, Object value, OutputStream out, Predicate<Class<?>> allowed)
            throws IOException {
        try (JsonGenerator to = own.createGenerator(out)) {
            to.writeStartObject();
            to.writeStringField(TYPE, value.getClass().getName());
            to.writeFieldName(VALUE);
            own.writer().withAttribute(AllowedBeans.RULES, allowed).writeValue(to, value);
            to.writeEndObject();
        }
    }

    @Override
    public Object decode(InputStream in, ClassLoader loader, Predicate<Class<?>> allowed)
            throws IOException, ClassNotFoundException {
        final ObjectMapper own = mapper(loader, allowed);
        try (JsonParser from = own.createParser(in)) {
            final Class<?> type = Class.forName(typeName(from), false, loader);
            AllowedBeans.require(type, allowed);
            require(VALUE.equals(from.nextFieldName()));
            require(from.nextToken() != JsonToken.VALUE_NULL);
            final Object value = own.readerFor(type)
                    .withAttribute(AllowedBeans.RULES, allowed)
                    .readValue(from);
            require(from.nextToken() == JsonToken.END_OBJECT);
            return value;
        } catch (AllowedClassLoader.Refused e) {
            AllowedBeans.require(e.type(), allowed);
            throw e;
        }
    }

    private static String typeName(JsonParser from) throws IOException {
        require(from.nextToken() == JsonToken.START_OBJECT && TYPE.equals(from.nextFieldName()));
        require(from.nextToken() == JsonToken.VALUE_STRING);
        return from.getText();
    }

    private static void require(boolean holds) throws IOException {
        if (!holds) {
            throw new IOException("the bytes are not {\"type\":...,\"value\":...}");
        }
    }
}
